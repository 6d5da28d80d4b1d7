package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/weirlimits/weir/internal/digits"
)

// peerResults is what the page needs of the results that bench/peers writes.
type peerResults struct {
	Version    int        `json:"version"`
	Rows       []*peerRow `json:"rows"`
	Incomplete string     `json:"incomplete"`
}

type peerRow struct {
	Ours      bool     `json:"ours"`
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Store     string   `json:"store"`
	Cannot    []string `json:"cannot"`
	Needs     string   `json:"needs"`
	Error     string   `json:"error"`
	Precision *struct {
		Limit struct {
			Text string `json:"text"`
		} `json:"limit"`
		MaxInWindow int64 `json:"max_in_window"`
		Steady      struct {
			FalseDenied int64 `json:"false_denied"`
		} `json:"steady"`
		Pushed struct {
			FalseDenied int64 `json:"false_denied"`
		} `json:"pushed"`
		NA string `json:"na"`
	} `json:"precision"`
	Memory []struct {
		Events      int64   `json:"events"`
		Keys        int64   `json:"keys"`
		BytesPerKey float64 `json:"bytes_per_key"`
		NA          string  `json:"na"`
	} `json:"memory"`
	Speed []peerSpeed `json:"speed"`
}

type peerSpeed struct {
	Keys      int64   `json:"keys"`
	Callers   int64   `json:"callers"`
	PerSecond float64 `json:"per_second"`
	NSPerOp   float64 `json:"ns_per_op"`
	NA        string  `json:"na"`
}

func readPeers(content []byte) (*peerResults, error) {
	const version = 1
	var r peerResults
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", peersFile, err)
	}
	if r.Version != version {
		return nil, fmt.Errorf("%s: version %d: want %d", peersFile, r.Version, version)
	}
	if r.Incomplete != "" {
		return nil, fmt.Errorf("%s: a run that ended early: %s", peersFile, r.Incomplete)
	}
	return &r, nil
}

func (r *peerResults) on(store string) (rows []*peerRow) {
	for _, row := range r.Rows {
		if row.Store == store {
			rows = append(rows, row)
		}
	}
	return rows
}

// limit is the limit of the precision runs.
func (r *peerResults) limit() (string, error) {
	for _, row := range r.Rows {
		if row.Precision != nil && row.Precision.NA == "" {
			return row.Precision.Limit.Text, nil
		}
	}
	return "", fmt.Errorf("no precision in %s", peersFile)
}

// peersTable sets all limiters on a store side by side.
func (m *measured) peersTable(store string) (string, error) {
	rows := m.peers.on(store)
	if len(rows) == 0 {
		return "", fmt.Errorf("nothing on %s in %s", store, peersFile)
	}
	widest := slices.MaxFunc(rows, func(a, b *peerRow) int {
		return len(a.Speed) + len(a.Memory) - len(b.Speed) - len(b.Memory)
	})
	head := []string{"on " + store, "most in a window", "denied without need"}
	for _, mem := range widest.Memory {
		head = append(head, fmt.Sprintf("bytes per key, %s keys, %s each", digits.Group(mem.Keys), digits.Plural(mem.Events, "request")))
	}
	for _, s := range widest.Speed {
		if store == "memory" {
			head = append(head, "ns, "+digits.Plural(s.Keys, "key"))
		} else {
			head = append(head, "per second, "+digits.Plural(s.Callers, "caller"))
		}
	}
	head = append(head, "cannot")
	var lines [][]string
	for _, row := range rows {
		lines = append(lines, row.cells(store, len(head)))
	}
	return markdown(head, lines), nil
}

func (row *peerRow) cells(store string, columns int) []string {
	name := row.Name
	if row.Ours {
		name = "**" + name + "**"
	} else if row.Version != "" {
		name += " " + row.Version
	}
	cells := []string{name}
	if why := row.Needs + row.Error; why != "" {
		if row.Needs != "" {
			why = "needs " + why
		}
		cells = append(cells, why)
		for len(cells) < columns {
			cells = append(cells, "")
		}
		return cells
	}
	if p := row.Precision; p == nil || p.NA != "" {
		cells = append(cells, "-", "-")
	} else {
		cells = append(cells, digits.Group(p.MaxInWindow), digits.Group(p.Steady.FalseDenied+p.Pushed.FalseDenied))
	}
	for _, mem := range row.Memory {
		cells = append(cells, orDash(mem.NA, digits.Short(mem.BytesPerKey)))
	}
	for _, s := range row.Speed {
		figure := rough(s.PerSecond)
		if store == "memory" {
			figure = digits.Short(s.NSPerOp)
		}
		cells = append(cells, orDash(s.NA, figure))
	}
	for len(cells) < columns-1 {
		cells = append(cells, "-")
	}
	return append(cells, strings.Join(row.Cannot, ", "))
}

func orDash(na, figure string) string {
	if na != "" {
		return "-"
	}
	return figure
}

// rough keeps three digits.
func rough(v float64) string {
	unit := 1.0
	for v/unit >= 1000 {
		unit *= 10
	}
	return digits.Group(int64(v/unit+0.5) * int64(unit))
}

// peersPicture is the rate on Redis at the most callers.
func peersPicture(m *measured, _ []string) ([]byte, string, error) {
	var names []string
	var ours, theirs plotter.Values
	callers := int64(0)
	for _, row := range m.peers.on("redis") {
		if len(row.Speed) == 0 || row.Needs+row.Error != "" {
			continue
		}
		last := row.Speed[len(row.Speed)-1]
		if last.NA != "" {
			continue
		}
		callers = last.Callers
		names = append(names, row.Name)
		if row.Ours {
			ours, theirs = append(ours, last.PerSecond), append(theirs, 0)
		} else {
			ours, theirs = append(ours, 0), append(theirs, last.PerSecond)
		}
	}
	if len(names) == 0 {
		return nil, "", fmt.Errorf("no rates on redis in %s", peersFile)
	}
	slices.Reverse(names)
	slices.Reverse(ours)
	slices.Reverse(theirs)
	p := newPlot(fmt.Sprintf("Decisions on Redis, %s callers", digits.Group(callers)), "per second", "")
	for i, values := range []plotter.Values{ours, theirs} {
		bars, err := plotter.NewBarChart(values, vg.Points(11))
		if err != nil {
			return nil, "", err
		}
		bars.Horizontal = true
		bars.Color, bars.LineStyle.Width = lookOf(i).color, 0
		p.Add(bars)
		p.Legend.Add([]string{"Weir", "other libraries"}[i], bars)
	}
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Size = vg.Points(8)
	p.X.Min = 0
	p.X.Max = 1.1 * max(slices.Max(ours), slices.Max(theirs))
	p.Legend.Left, p.Legend.Top = false, false
	p.Legend.XOffs, p.Legend.YOffs = -vg.Points(8), vg.Points(8)
	out, err := svg(p, 20*vg.Centimeter, vg.Length(len(names))*0.7*vg.Centimeter+3*vg.Centimeter)
	return out, "Every request admitted, and each decided on the server.", err
}
