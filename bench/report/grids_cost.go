package report

import (
	"fmt"
	"slices"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// cost is what one decision costs, beside its time.
func cost(r *bench.Results) grid {
	t := grid{id: "cost", title: "Cost of one decision, on average"}
	if r = measuring(r, func(res bench.Result) bool { return res.Cost != nil }); len(r.Results) == 0 {
		return t
	}
	timed := slices.ContainsFunc(r.Results, func(res bench.Result) bool { return res.Cost != nil && res.Cost.ServerUS > 0 })
	columns := []column{{title: "trips", better: lower}, {title: "commands", better: lower}}
	if timed {
		columns = append(columns, column{title: "server time", better: lower})
	}
	columns = append(columns, column{title: "bytes sent", better: lower}, column{title: "bytes received", better: lower})
	t.groups = []group{{columns: columns}}
	t.fill(r, func(res bench.Result) []cell {
		c := res.Cost
		if c == nil {
			return make([]cell, len(columns))
		}
		if c.NA != "" {
			return repeat(len(columns), words(printable(notMeasured(c.NA))))
		}
		cells := []cell{number(few(c.Trips), c.Trips), number(few(c.Commands), c.Commands)}
		if timed {
			us := words(notTold)
			if c.ServerUS > 0 {
				us = number(micros(c.ServerUS), c.ServerUS)
			}
			cells = append(cells, us)
		}
		return append(cells, number(bytesOf(c.WireOut), c.WireOut), number(bytesOf(c.WireIn), c.WireIn))
	})
	return t
}

// measuring returns a copy of the results without the stores on which something was not measured at all.
func measuring(r *bench.Results, measured func(bench.Result) bool) *bench.Results {
	some := *r
	some.Results = slices.DeleteFunc(slices.Clone(r.Results), func(res bench.Result) bool {
		return !slices.ContainsFunc(r.Results, func(other bench.Result) bool { return other.Store == res.Store && measured(other) })
	})
	return &some
}

// few prints a small mean: 1, 1.25.
func few(v float64) string { return fmt.Sprintf("%.3g", v) }

func repeat(n int, c cell) []cell { return slices.Repeat([]cell{c}, n) }

// stall is how long others wait for one decision.
func stall(r *bench.Results) grid {
	t := grid{id: "stall", title: "Stalls: the longest wait of others while one decision meets a large key"}
	if r = measuring(r, func(res bench.Result) bool { return res.Stall != nil }); len(r.Results) == 0 {
		return t
	}
	t.groups = []group{{columns: []column{{title: "events"}, {title: "longest", better: lower}, {title: "when idle"}}}}
	t.fill(r, func(res bench.Result) []cell {
		s := res.Stall
		switch {
		case s == nil:
			return make([]cell, 3)
		case s.NA != "":
			return repeat(3, words(printable(notMeasured(s.NA))))
		}
		return []cell{number(digits.Group(s.Events), float64(s.Events)), number(micros(s.LongestUS), s.LongestUS), number(micros(s.IdleUS), s.IdleUS)}
	})
	return t
}

// boundary sums up the burst over a boundary.
func boundary(r *bench.Results) grid {
	t := grid{id: "boundary", title: "Boundary: bursts around it", storeless: true}
	if r = measuring(r, func(res bench.Result) bool { return len(res.Boundary) > 0 }); len(r.Results) == 0 {
		return t
	}
	r.Results = decidedAlike(r.Results, func(a, b bench.Result) bool { return slices.Equal(a.Boundary, b.Boundary) })
	t.groups = []group{{columns: []column{{title: "most in W", better: lower, enough: float64(r.Limit.Count)}, {title: "admitted"}, {title: "asked"}}}}
	t.fill(r, func(res bench.Result) []cell {
		if len(res.Boundary) == 0 {
			return make([]cell, 3)
		}
		most, admitted, asked := burst(res.Boundary)
		return []cell{number(digits.Group(most), float64(most)), number(digits.Group(admitted), float64(admitted)), number(digits.Group(asked), float64(asked))}
	})
	return t
}

// burst sums up its moments.
func burst(points []bench.BoundaryPoint) (most, admitted, asked int64) {
	for _, p := range points {
		most = max(most, p.InWindow)
		admitted += p.Admitted
		asked += p.Asked
	}
	return most, admitted, asked
}
