package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

var endings = []string{".json", ".csv", ".md", ".html"}

// parseOutputs checks what can be checked before a long run: the endings, and that the folders are there.
func (c *common) parseOutputs() error {
	c.outputs = c.given.outputs
	for i, path := range c.outputs {
		if !slices.Contains(endings, ending(path)) {
			return &weir.FieldError{Field: "-o", Value: strconv.Quote(path), Want: "a file that ends in " + either(endings)}
		}
		if slices.Contains(c.outputs[:i], path) {
			return &weir.FieldError{Field: "-o", Value: strconv.Quote(path) + " twice", Want: "each file once"}
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return &weir.FieldError{Field: "-o", Value: strconv.Quote(path), Want: "a file, not a folder"}
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return &weir.FieldError{Field: "-o", Value: strconv.Quote(path), Want: "a file in a folder that exists"}
		}
	}
	return nil
}

func ending(path string) string { return strings.ToLower(filepath.Ext(path)) }

// resultFormats are what --format takes, the default first.
func resultFormats() []string { return []string{formatText, formatJSON, formatCSV, formatMarkdown} }

// emit prints the results and writes the files that were asked for. Neither waits for the other to work:
// a run may have taken long.
func (c *common) emit(res *bench.Results) error {
	return errors.Join(
		c.print(func(b *bytes.Buffer) error {
			return report.Render(b, res, c.format, c.textOptions())
		}),
		c.writeOutputs(func(b *bytes.Buffer, format string) error { return report.Render(b, res, format, nil) }),
	)
}

// writeOutputs writes the files. It renders first, so that an error leaves no half file where a good one
// may have been.
func (c *common) writeOutputs(render func(b *bytes.Buffer, format string) error) error {
	var errs []error
	for _, path := range c.outputs {
		var b bytes.Buffer
		err := render(&b, ending(path)[1:])
		if err == nil {
			err = replaceFile(path, b.Bytes())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("weir: -o: %w", err))
			continue
		}
		c.note("wrote %s", path)
	}
	return errors.Join(errs...)
}

// print writes to standard output.
func (c *common) print(render func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	if _, err := c.stdout.Write(b.Bytes()); err != nil {
		return failed(fmt.Errorf("weir: standard output: %w", err))
	}
	return nil
}
