// Command docs makes docs/tradeoffs.md and its pictures from docs/results, so that no
// figure in them is typed by hand.
//
//	docs                          write docs/tradeoffs.md and docs/img
//	docs verify OLD.json NEW.json compare two runs of the same flags: bytes, counts and
//	                              trips within 2 %, times as ratios within their run
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 0:
		return write(filepath.Join("..", "..", "docs"))
	case len(args) == 3 && args[0] == "verify":
		return verify(os.Stdout, args[1], args[2])
	}
	return errors.New("docs: arguments: want none, or verify OLD.json NEW.json")
}

// write renders the page and its pictures into dir.
func write(dir string) error {
	faults, err := os.ReadFile(filepath.Join(dir, "..", faultsFile))
	if err != nil {
		return fmt.Errorf("docs: %w", err)
	}
	files, err := render(os.DirFS(filepath.Join(dir, "results")), faults)
	if err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("docs: %w", err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return fmt.Errorf("docs: %w", err)
		}
	}
	return nil
}
