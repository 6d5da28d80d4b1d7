package report

import (
	"encoding/json"
	"io"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// Replay is what a replay found and what it was made of.
type Replay struct {
	Results     *bench.ReplayResults
	Trace       bench.TraceInfo
	Limit       bench.LimitInfo
	Environment bench.Environment
}

// AsResults returns the replay as results whose one scenario is the trace.
func (r *Replay) AsResults() *bench.Results {
	res := &bench.Results{
		Version: bench.ResultsVersion, Environment: r.Environment, Limit: r.Limit, Trace: &r.Trace,
		Incomplete: r.Results.Incomplete,
	}
	for _, one := range r.Results.Results {
		to := bench.Result{Algorithm: one.Algorithm, Store: one.Store, Unsupported: one.Unsupported, Error: one.Error}
		if one.Precision != nil {
			to.Precision = map[string]bench.Precision{"trace": *one.Precision}
		}
		res.Results = append(res.Results, to)
	}
	return res
}

// Render writes the replay in a format: "text", "json", "csv", "md" or "html". The JSON is that of
// [bench.ReplayResults]; the CSV that of [Render], with a line also for each figure of who was denied, when, and of
// other limits.
func (r *Replay) Render(w io.Writer, format string, opts *Options) error {
	switch format {
	case formatJSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r.Results)
	case formatCSV:
		return writeCSV(w, r.AsResults(), r.insights()...)
	}
	return r.page(format).render(w, format, opts)
}

// page is what text tells in short, Markdown in full, and HTML with the numbers of its charts.
func (r *Replay) page(format string) page {
	detail := format != formatText
	p := newPage(r.AsResults(), detail)
	p.title = "Replay of " + printable(r.Trace.Name) + " at " + printable(r.Limit.Text)
	p.charts = append(r.charts(), p.charts...)
	p.legend = append(r.legend(), p.legend...)
	p.grids = nil
	all := []grid{r.summary(detail), r.denials(detail)}
	if detail {
		all = append(all, r.worst())
	}
	if format == formatHTML {
		all = append(all, r.overTime(), r.hours())
	}
	for _, t := range append(all, r.found(), r.whatIf()) {
		if len(t.rows) > 0 {
			t.arrange()
			p.grids = append(p.grids, t)
		}
	}
	return p
}

// summary tells with detail also how many events of how many keys there were, each row the same.
func (r *Replay) summary(detail bool) grid {
	columns := append([]column{{title: "allowed"}, {title: "denied"}}, exactColumns(r.Limit.Count)...)
	columns = append(columns, column{title: "server calls", better: lower})
	if detail {
		columns = append([]column{{title: "events"}, {title: "keys"}}, columns...)
	}
	t := grid{id: "summary", title: "Decisions", groups: []group{{columns: columns}, {columns: wrongColumns()}}}
	for _, one := range r.Results.Results {
		to := newRow(one.Algorithm, one.Store, one.Unsupported, one.Error)
		if p := one.Precision; p != nil && p.NA != "" {
			to.instead = printable(notMeasured(p.NA))
		} else if p != nil {
			count := func(n int64) cell { return number(digits.Group(n), float64(n)) }
			if detail {
				to.cells = []cell{count(p.Events), count(int64(p.Keys))}
			}
			to.cells = append(append(to.cells, count(p.Allowed), count(p.Denied)), exactCells(*p)...)
			calls := words("not counted")
			if p.ServerCalls > 0 {
				calls = count(p.ServerCalls)
			}
			to.cells = append(append(to.cells, calls), wrongCells(*p)...)
		} else if to.instead == "" {
			to.instead = "not decided"
		}
		t.rows = append(t.rows, to)
	}
	return t
}
