package report

import (
	"slices"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/internal/digits"
)

// inProcess stands in place of a store for what was decided without one.
const inProcess = "in process"

// found tells the smallest limits that deny few enough, each beside the one below it.
func (r *Replay) found() grid {
	t := grid{id: "find-limit", title: "The smallest limit that will do"}
	title := func(f insight.Found) string { return windowText(f.WindowUS) + ": " + f.Goal.String() }
	for _, f := range r.Results.Found {
		if !slices.ContainsFunc(t.groups, func(g group) bool { return g.title == title(f) }) {
			t.groups = append(t.groups, group{title: title(f), columns: []column{
				{title: "limit"}, {title: "clients"}, {title: "requests"}, {title: "clients (L-1)"}, {title: "requests (L-1)"},
			}})
		}
		i := slices.IndexFunc(t.rows, func(to row) bool { return to.algorithm == printable(f.Algorithm) })
		if i < 0 {
			i = len(t.rows)
			t.rows = append(t.rows, newRow(f.Algorithm, inProcess, nil, ""))
		}
		t.rows[i].cells = append(t.rows[i].cells, foundCells(f)...)
	}
	for i := range t.rows {
		t.rows[i].simplify()
	}
	return t
}

func foundCells(f insight.Found) []cell {
	if f.Outcome == nil {
		return slices.Repeat([]cell{words(printable(f.NA))}, 5)
	}
	text := digits.Group(f.Limit)
	if f.RuledOut > 1 {
		text += " (tried from " + digits.Group(f.RuledOut) + ")"
	}
	cells := append([]cell{number(text, float64(f.Limit))}, shareCells(*f.Outcome)...)
	if f.OneLess == nil {
		return append(cells, words("-"), words("-"))
	}
	return append(cells, shareCells(*f.OneLess)...)
}

// shareCells are the shares of clients and of requests denied.
func shareCells(o insight.Outcome) []cell {
	if o.NA != "" {
		return []cell{words("not valid"), words("not valid")}
	}
	return []cell{number(share(o.ClientsShare), o.ClientsShare), number(share(o.RequestShare), o.RequestShare)}
}

// windowText writes a window in microseconds as limits do: 1m.
func windowText(us int64) string {
	_, window, _ := strings.Cut(weir.Limit{Count: 1, Window: time.Duration(us) * time.Microsecond}.String(), "/")
	return window
}

// whatIf has a group for each other limit.
func (r *Replay) whatIf() grid {
	t := grid{id: "what-if", title: "What if: shares of clients and of requests denied under other limits"}
	for _, limit := range r.caseNames() {
		t.groups = append(t.groups, group{title: printable(limit), columns: []column{
			{title: "clients"}, {title: "requests"}, {title: "max in W"}, {title: "false denied"},
		}})
	}
	for _, o := range r.Results.WhatIf {
		i := slices.IndexFunc(t.rows, func(to row) bool { return to.algorithm == printable(o.Algorithm) })
		if i < 0 {
			i = len(t.rows)
			t.rows = append(t.rows, newRow(o.Algorithm, inProcess, nil, ""))
		}
		cells := slices.Repeat([]cell{words(printable(o.NA))}, 4)
		if o.NA == "" {
			cells = append(shareCells(o), number(digits.Group(o.MaxInWindow), float64(o.MaxInWindow)),
				number(digits.Group(o.FalseDenied), float64(o.FalseDenied)))
		}
		t.rows[i].cells = append(t.rows[i].cells, cells...)
	}
	for i := range t.rows {
		t.rows[i].simplify()
	}
	return t
}

// caseNames are the other limits, in the order in which they were asked.
func (r *Replay) caseNames() (all []string) {
	for _, o := range r.Results.WhatIf {
		if !slices.Contains(all, o.Limit) {
			all = append(all, o.Limit)
		}
	}
	return all
}

// legend explains what only a replay's tables hold.
func (r *Replay) legend() (all []string) {
	if len(r.once()) > 0 {
		all = append(all, "locked out: from a denied request until it would have been admitted, as Retry-After told; times that overlap are one.")
	}
	if len(r.Results.Found)+len(r.Results.WhatIf) > 0 {
		all = append(all, "in process: by the algorithm's own step, as every store that runs it decides; no store was asked.")
	}
	if len(r.Results.Found) > 0 {
		all = append(all, "L-1: under the limit one below, which denies too many.")
	}
	if slices.ContainsFunc(r.Results.Found, func(f insight.Found) bool { return f.RuledOut > 1 }) {
		all = append(all, "tried from: a higher limit of this algorithm may deny more of this traffic, so the limits below the one found were tried one by one, "+
			"down to this; a smaller one may do as well.")
	}
	return all
}
