package report

import (
	"slices"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// mostEvents is up to how many events per key the summary tells the memory.
const mostEvents = 1000

// summary is what one wants to know first of each pair: how far over the limit it went in the worst
// scenario, how much it denied without need, what a key costs, and how fast it is when many ask.
// It is empty where nothing was measured.
func summary(r *bench.Results) grid {
	t := grid{id: "summary", title: "Summary: worst window of any scenario, share of all requests falsely denied, memory, speed"}
	scenarios := scenarioNames(r)
	events := distinct(r, func(res bench.Result) []bench.Memory { return res.Memory }, func(m bench.Memory) int64 { return m.Events })
	events = slices.DeleteFunc(events, func(n int64) bool { return n > mostEvents })
	if len(events) > 2 {
		events = []int64{events[0], events[len(events)-1]}
	}
	callers := distinct(r, func(res bench.Result) []bench.Throughput { return res.Throughput }, func(h bench.Throughput) int { return h.Callers })
	if len(scenarios) > 0 {
		t.groups = append(t.groups, group{columns: []column{
			{title: "max in W", better: lower, enough: float64(r.Limit.Count)}, {title: "false denied", better: lower},
		}})
	}
	if len(events) > 0 {
		g := group{title: "bytes per key after"}
		for _, n := range events {
			g.columns = append(g.columns, column{title: digits.Plural(n, "event"), better: lower})
		}
		t.groups = append(t.groups, g)
	}
	if len(callers) > 0 {
		callers = callers[len(callers)-1:]
		columns := []column{{title: "per second", better: higher}, {title: "p99", better: lower}}
		if gathers(r, callers[0]) {
			columns = append(columns, column{title: gatheredTitle, better: higher})
		}
		t.groups = append(t.groups, group{title: digits.Plural(int64(callers[0]), "caller"), columns: columns})
	}
	t.fill(r, func(res bench.Result) (cells []cell) {
		if len(scenarios) > 0 {
			cells = append(cells, worstCells(res.Precision)...)
		}
		for _, n := range events {
			cells = append(cells, memoryCell(res, n))
		}
		for _, n := range callers {
			speed := speedCells(res, n)
			if gathers(r, n) {
				speed = append(speed, gatheredCell(res, n))
			}
			cells = append(cells, speed...)
		}
		return cells
	})
	return t
}

// worst is how wrong an algorithm was over all scenarios.
type worst struct {
	most                int64 // admitted in any window
	falseDenied, events int64
}

// denied is the share of all requests that were denied without need.
func (w worst) denied() float64 { return float64(w.falseDenied) / float64(max(w.events, 1)) }

func worstOf(scenarios map[string]bench.Precision) (w worst) {
	for _, p := range scenarios {
		if p.NA == "" {
			w.most = max(w.most, p.MaxInWindow)
			w.falseDenied += p.FalseDenied
			w.events += p.Events
		}
	}
	return w
}

// worstCells tell the most that any scenario saw admitted in a window, and the share of all requests that
// were denied without need.
func worstCells(scenarios map[string]bench.Precision) []cell {
	w := worstOf(scenarios)
	if w.events == 0 {
		return make([]cell, 2)
	}
	return []cell{number(digits.Group(w.most), float64(w.most)), number(share(w.denied()), w.denied())}
}

func memoryCell(res bench.Result, events int64) cell {
	i := slices.IndexFunc(res.Memory, func(m bench.Memory) bool { return m.Events == events })
	switch {
	case i < 0:
		return cell{}
	case res.Memory[i].NA != "":
		return words(printable(notMeasured(res.Memory[i].NA)))
	default:
		return number(bytesOf(res.Memory[i].BytesPerKey), res.Memory[i].BytesPerKey)
	}
}

func speedCells(res bench.Result, callers int) []cell {
	i := slices.IndexFunc(res.Throughput, func(h bench.Throughput) bool { return h.Callers == callers })
	switch {
	case i < 0:
		return make([]cell, 2)
	case res.Throughput[i].NA != "":
		na := words(printable(notMeasured(res.Throughput[i].NA)))
		return []cell{na, na}
	default:
		h := res.Throughput[i]
		return []cell{
			{text: rough(h.PerSecond), value: h.PerSecond, spread: h.Spread, known: true},
			{text: micros(h.P99US), value: h.P99US, spread: h.Spread, known: true},
		}
	}
}

// gatheredTitle heads the rates of callers who share round trips.
const gatheredTitle = "shared trips"

// gathers tells whether so many callers shared round trips on any store.
func gathers(r *bench.Results, callers int) bool {
	return slices.ContainsFunc(r.Results, func(res bench.Result) bool {
		h, _, _ := atLevel(res, callers)
		return h.Gathered != nil
	})
}

// gatheredCell is the rate of so many callers who share round trips.
func gatheredCell(res bench.Result, callers int) cell {
	h, _, _ := atLevel(res, callers)
	switch {
	case h.Gathered == nil:
		return cell{}
	case h.Gathered.NA != "":
		return words(printable(notMeasured(h.Gathered.NA)))
	}
	return cell{text: rough(h.Gathered.PerSecond), value: h.Gathered.PerSecond, spread: h.Gathered.Spread, known: true}
}
