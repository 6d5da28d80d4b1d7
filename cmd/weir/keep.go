package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/weirlimits/weir/bench"
)

// keepEvery is how much of a run may be lost where it is killed.
const keepEvery = time.Second

// keeper writes what a run has measured so far to the .json files that were asked for, so that a run that is
// killed leaves it. An error is not told: the last write meets it too.
func (c *common) keeper() func(soFar func() *bench.Results) {
	var last time.Time
	return func(soFar func() *bench.Results) {
		if time.Since(last) < keepEvery {
			return
		}
		for _, path := range c.outputs {
			if ending(path) != ".json" {
				continue
			}
			var b bytes.Buffer
			if err := soFar().Write(&b); err == nil {
				_ = replaceFile(path, b.Bytes())
			}
		}
		last = time.Now()
	}
}

// replaceFile writes a file so that whoever reads it, whenever this process is killed, finds the old content
// or the new one. What is no plain file is written as it is.
func replaceFile(path string, data []byte) error {
	info, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o644)
	}
	part := path + ".part"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return os.WriteFile(path, data, 0o644) // a folder that takes no new file
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}
