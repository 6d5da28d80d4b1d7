package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"text/template"
)

//go:embed tradeoffs.md.tmpl
var page string

// render returns the page and its pictures, by their names below docs, made from the
// results in dir and from what faults says of each fault.
func render(dir fs.FS, faults []byte) (map[string][]byte, error) {
	m, err := read(dir)
	if err != nil {
		return nil, err
	}
	if m.faults, err = readFaults(faults); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	functions := m.functions()
	functions["picture"] = func(name string, algorithms ...string) (string, error) {
		picture, ok := pictures[name]
		if !ok {
			return "", fmt.Errorf("no picture %q", name)
		}
		svg, caption, err := picture(m, algorithms)
		if err != nil {
			return "", err
		}
		file := "img/" + name + ".svg"
		files[file] = svg
		return fmt.Sprintf("![%s](%s)\n\n*%s*", caption, file, caption), nil
	}
	t, err := template.New("tradeoffs.md").Funcs(functions).Parse(page)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, nil); err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	files["tradeoffs.md"] = out.Bytes()
	return files, nil
}
