package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// faultsFile is, below the module, what the tests of conformance/faults hold true.
const faultsFile = "conformance/faults/faults.json"

// fault is what the page needs of one.
type fault struct {
	Store    string   `json:"store"`
	Name     string   `json:"name"`
	Fault    string   `json:"fault"`
	Deadline string   `json:"deadline"`
	Sees     []string `json:"sees"`
	Over     string   `json:"over"`
	Under    string   `json:"under"`
	Normal   string   `json:"normal"`
}

func readFaults(content []byte) (all []fault, err error) {
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("docs: %s: %w", faultsFile, err)
	}
	return all, nil
}

// faultsTable tells what callers see of each fault of a store, and what it costs.
func (m *measured) faultsTable(store string) (string, error) {
	var rows [][]string
	for _, f := range m.faults {
		if f.Store == store {
			normal := f.Normal
			if _, err := time.ParseDuration(normal); err == nil {
				normal = "within " + normal
			}
			rows = append(rows, []string{f.Fault, seen(f.Sees), f.Over, f.Under, normal})
		}
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("no faults of %s in %s", store, faultsFile)
	}
	head := []string{store, "errors that callers see", "admitted beyond the limit", "counted and not admitted", "normal again"}
	return markdown(head, rows), nil
}

// seen lists errors; those that are names are set as such.
func seen(sees []string) string {
	if len(sees) == 0 {
		return "none"
	}
	words := make([]string, len(sees))
	for i, s := range sees {
		if words[i] = s; strings.Contains(s, ".") || s == strings.ToUpper(s) {
			words[i] = "`" + s + "`"
		}
	}
	return strings.Join(words, ", ")
}
