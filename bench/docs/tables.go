package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// table returns one of the page's tables in Markdown.
func (m *measured) table(name, store string) (string, error) {
	switch name {
	case "bytes":
		return m.bytesTable(store), nil
	case "cost":
		return m.costTable(store), nil
	case "peers":
		return m.peersTable(store)
	case "faults":
		return m.faultsTable(store)
	}
	return "", fmt.Errorf("no table %q", name)
}

// bytesTable tells what one client costs as it asks more, next to what that buys.
func (m *measured) bytesTable(store string) string {
	results := m.onStore(store)
	var events []int64
	for _, r := range results {
		for _, p := range r.Memory {
			if p.NA == "" && !slices.Contains(events, p.Events) {
				events = append(events, p.Events)
			}
		}
	}
	slices.Sort(events)
	head := []string{"algorithm", "most in a window", "denied without need, at worst"}
	for i, n := range events {
		label := digits.Group(n)
		if i == 0 {
			label = "bytes after " + label
		}
		head = append(head, label)
	}
	var rows [][]string
	for _, r := range results {
		row := []string{"`" + r.Algorithm + "`", digits.Group(worstWindow(r)), worstShare(r)}
		for _, n := range events {
			cell := ""
			if b, err := bytesAt(&r, n); err == nil {
				cell = digits.Group(int64(b + 0.5))
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return markdown(head, rows)
}

func worstWindow(r bench.Result) (most int64) {
	for _, p := range r.Precision {
		most = max(most, p.MaxInWindow)
	}
	return most
}

func worstShare(r bench.Result) string {
	worst := 0.0
	for _, p := range r.Precision {
		if p.Events > 0 {
			worst = max(worst, float64(p.FalseDenied)/float64(p.Events))
		}
	}
	return percent(worst)
}

// costTable tells what one decision costs.
func (m *measured) costTable(store string) string {
	head := []string{
		"algorithm", "commands", "server time", "bytes sent", "bytes received",
		"another client waits, at worst, while " + m.stallEvents() + " expired requests are trimmed",
	}
	var rows [][]string
	for _, r := range m.onStore(store) {
		if r.Cost == nil || r.Cost.NA != "" {
			continue
		}
		stall := ""
		switch {
		case r.Stall == nil:
		case r.Stall.NA != "":
			stall = r.Stall.NA
		default:
			stall = micros(r.Stall.LongestUS) + " (" + micros(r.Stall.IdleUS) + " with nothing to trim)"
		}
		rows = append(rows, []string{
			"`" + r.Algorithm + "`", digits.Short(r.Cost.Commands), micros(r.Cost.ServerUS), digits.Short(r.Cost.WireOut), digits.Short(r.Cost.WireIn), stall,
		})
	}
	return markdown(head, rows)
}

func (m *measured) stallEvents() string {
	for _, r := range m.compare.Results {
		if r.Stall != nil && r.Stall.NA == "" {
			return digits.Group(r.Stall.Events)
		}
	}
	return "many"
}

func markdown(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
