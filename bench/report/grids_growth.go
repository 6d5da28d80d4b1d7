package report

import (
	"cmp"
	"slices"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// growing is a table of what was measured at several sizes: a group of columns for each.
type growing[T any, K cmp.Ordered] struct {
	of      func(bench.Result) []T
	size    func(T) K
	na      func(T) string
	title   func(K) string
	columns []column
	cells   func(T) []cell
}

func (g growing[T, K]) grid(r *bench.Results, id, title string) grid {
	t := grid{id: id, title: title}
	r = measuring(r, func(res bench.Result) bool { return len(g.of(res)) > 0 })
	sizes := distinct(r, g.of, g.size)
	for _, k := range sizes {
		t.groups = append(t.groups, group{title: g.title(k), columns: g.columns})
	}
	t.fill(r, func(res bench.Result) (cells []cell) {
		for _, k := range sizes {
			these := make([]cell, len(g.columns))
			for _, p := range g.of(res) {
				switch {
				case g.size(p) != k:
				case g.na(p) != "":
					these = repeat(len(g.columns), words(printable(notMeasured(g.na(p)))))
				default:
					these = g.cells(p)
				}
			}
			cells = append(cells, these...)
		}
		return cells
	})
	return t
}

func growthOf[T any](of func(bench.Growth) []T) func(bench.Result) []T {
	return func(res bench.Result) []T {
		if res.Growth == nil {
			return nil
		}
		return of(*res.Growth)
	}
}

func growthEvents(r *bench.Results) grid {
	of := growthOf(func(g bench.Growth) []bench.EventsPoint { return g.Events })
	columns := []column{{title: "decision", better: lower}, {title: "server time", better: lower}}
	timed := slices.ContainsFunc(r.Results, func(res bench.Result) bool {
		return slices.ContainsFunc(of(res), func(p bench.EventsPoint) bool { return p.ServerUS > 0 })
	})
	if !timed {
		columns = columns[:1]
	}
	return growing[bench.EventsPoint, int64]{
		of:      of,
		size:    func(p bench.EventsPoint) int64 { return p.Events },
		na:      func(p bench.EventsPoint) string { return p.NA },
		title:   func(n int64) string { return digits.Plural(n, "event") },
		columns: columns,
		cells: func(p bench.EventsPoint) []cell {
			server := words(notTold)
			if p.ServerUS > 0 {
				server = number(micros(p.ServerUS), p.ServerUS)
			}
			return []cell{number(micros(p.DecisionUS), p.DecisionUS), server}[:len(columns)]
		},
	}.grid(r, "events", "Growth with events: one decision as its key fills")
}

func growthKeys(r *bench.Results) grid {
	return growing[bench.KeysPoint, int64]{
		of:      growthOf(func(g bench.Growth) []bench.KeysPoint { return g.Keys }),
		size:    func(p bench.KeysPoint) int64 { return p.Keys },
		na:      func(p bench.KeysPoint) string { return p.NA },
		title:   func(n int64) string { return digits.Plural(n, "key") },
		columns: []column{{title: "decision", better: lower}, {title: "bytes per key", better: lower}},
		cells: func(p bench.KeysPoint) []cell {
			return []cell{number(micros(p.DecisionNS/1000), p.DecisionNS), number(bytesOf(p.BytesPerKey), p.BytesPerKey)}
		},
	}.grid(r, "keys", "Growth with keys: one decision as the store fills")
}

func growthCallers(r *bench.Results) grid {
	return growing[bench.CallersPoint, int]{
		of:      growthOf(func(g bench.Growth) []bench.CallersPoint { return g.Callers }),
		size:    func(p bench.CallersPoint) int { return p.Callers },
		na:      func(p bench.CallersPoint) string { return p.NA },
		title:   func(n int) string { return digits.Plural(int64(n), "caller") },
		columns: []column{{title: "per second", better: higher}, {title: "p99", better: lower}, {title: gatheredTitle, better: higher}},
		cells: func(p bench.CallersPoint) []cell {
			shared := cell{}
			if g := p.Gathered; g != nil && g.NA == "" {
				shared = cell{text: rough(g.PerSecond), value: g.PerSecond, spread: g.Spread, known: true}
			}
			return []cell{
				{text: rough(p.PerSecond), value: p.PerSecond, spread: p.Spread, known: true},
				{text: micros(p.P99US), value: p.P99US, spread: p.Spread, known: true},
				shared,
			}
		},
	}.grid(r, "callers", "Growth with callers: as more ask at once")
}

func openLoop(r *bench.Results) grid {
	return growing[bench.OpenLoop, float64]{
		of:      func(res bench.Result) []bench.OpenLoop { return res.OpenLoop },
		size:    func(o bench.OpenLoop) float64 { return o.Rate },
		na:      func(o bench.OpenLoop) string { return o.NA },
		title:   func(v float64) string { return rough(v) + " per second" },
		columns: []column{{title: "answered", better: higher}, {title: "p50", better: lower}, {title: "p99", better: lower}, {title: "longest", better: lower}},
		cells: func(o bench.OpenLoop) []cell {
			return []cell{
				number(rough(o.Achieved), o.Achieved), number(micros(o.P50US), o.P50US), number(micros(o.P99US), o.P99US),
				number(micros(o.MaxUS), o.MaxUS),
			}
		},
	}.grid(r, "open", "Open loop: latency at a fixed rate of requests, from the moment each was due")
}
