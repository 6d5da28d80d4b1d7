package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// grids are what a run measured. Those that would be empty are left out. With detail there are
// columns that only a wide page has room for.
func grids(r *bench.Results, detail bool) []grid {
	var all []grid
	for _, t := range []grid{
		summary(r), promises(r, detail), precision(r, detail), wrong(r), boundary(r), memory(r), throughput(r, detail), cost(r), stall(r),
		growthEvents(r), growthKeys(r), growthCallers(r), openLoop(r),
	} {
		if len(t.groups) == 0 || len(t.rows) == 0 {
			continue
		}
		t.arrange()
		all = append(all, t)
	}
	return all
}

// fill makes a row of each result; cells makes those of one that could run.
func (t *grid) fill(r *bench.Results, cells func(bench.Result) []cell) {
	if len(t.groups) == 0 {
		return
	}
	for _, res := range r.Results {
		to := newRow(res.Algorithm, res.Store, res.Unsupported, res.Error)
		if len(res.Unsupported) == 0 {
			to.cells = cells(res)
			to.simplify()
		}
		t.rows = append(t.rows, to)
	}
}

// newRow is a row without cells, which says why if there can be none.
func newRow(algorithm, store string, unsupported []string, failure string) row {
	r := row{algorithm: printable(algorithm), store: printable(store)}
	switch {
	case len(unsupported) > 0:
		r.instead = needs(unsupported)
	case failure != "":
		r.instead = "failed" // a warning says why
	}
	return r
}

// simplify puts one text in place of cells that have no figure and all say the same.
func (r *row) simplify() {
	first := r.cells[0].text
	if slices.ContainsFunc(r.cells, func(c cell) bool { return c.known || c.text != first }) {
		r.instead = ""
		return
	}
	if r.instead == "" {
		r.instead = cmp.Or(first, "not measured")
	}
}

func needs(missing []string) string { return "needs " + printable(strings.Join(missing, " + ")) }

// racyExactness is the exactness of a plan that is not atomic.
var racyExactness = weir.Plan{Racy: true}.Exactness()

func promises(r *bench.Results, detail bool) grid {
	t := grid{id: "promises", title: "Declared: what each promises"}
	if !slices.ContainsFunc(r.Results, func(res bench.Result) bool { return res.Guarantee != nil }) {
		return t
	}
	columns := []column{{title: "max in W", better: lower}}
	if detail {
		columns = append(columns, column{title: "deficit", better: lower})
	}
	columns = append(columns, column{title: "trips"})
	t.groups = []group{{columns: []column{{title: "class", words: true}, {title: "plan", words: true}}}, {columns: columns}}
	t.fill(r, func(res bench.Result) []cell {
		cells := []cell{words(printable(classOf(r, res.Store))), words(printable(res.Plan + ", " + res.Exactness))}
		g := res.Guarantee
		if g == nil {
			return append(cells, make([]cell, len(columns))...)
		}
		bound := digits.Group(g.MaxInWindow)
		if g.Evicts {
			bound += " unless evicted"
		}
		if res.Exactness == racyExactness {
			bound += " unless raced"
		}
		cells = append(cells, number(bound, float64(g.MaxInWindow)))
		if detail {
			cells = append(cells, number(digits.Group(g.Deficit), float64(g.Deficit)))
		}
		trips := digits.Group(int64(res.Trips))
		if res.DeniedTrips != res.Trips {
			trips += "/" + digits.Group(int64(res.DeniedTrips))
		}
		return append(cells, number(trips, float64(res.Trips)))
	})
	return t
}

// serverOf is what a store ran on; empty if the run does not say.
func serverOf(r *bench.Results, store string) string {
	for _, s := range r.Environment.Servers {
		if s.Store == store {
			return s.Server
		}
	}
	return ""
}

// classOf is what kind of backend a store is; empty if the run does not say.
func classOf(r *bench.Results, store string) string {
	for _, s := range r.Environment.Servers {
		if s.Store == store {
			return s.Class
		}
	}
	return ""
}

func memory(r *bench.Results) grid {
	t := grid{id: "memory", title: "Memory: bytes per key after so many admitted events"}
	counts := distinct(r, func(res bench.Result) []bench.Memory { return res.Memory }, func(m bench.Memory) int64 { return m.Events })
	total := r.Clients > 0
	for _, n := range counts {
		g := group{title: digits.Plural(n, "event"), columns: []column{{title: "per key", better: lower}}}
		if total {
			g.columns = append(g.columns, column{title: digits.Group(r.Clients) + " keys", better: lower})
		}
		t.groups = append(t.groups, g)
	}
	t.fill(r, func(res bench.Result) []cell {
		var cells []cell
		for _, n := range counts {
			i := slices.IndexFunc(res.Memory, func(m bench.Memory) bool { return m.Events == n })
			var per, all cell
			switch {
			case i < 0:
			case res.Memory[i].NA != "":
				per, all = words(printable(notMeasured(res.Memory[i].NA))), words(printable(notMeasured(res.Memory[i].NA)))
			default:
				m := res.Memory[i]
				text := bytesOf(m.BytesPerKey)
				if m.Shared {
					text += " shared"
				}
				per, all = number(text, m.BytesPerKey), number(sizeOf(m.Total), m.Total)
			}
			cells = append(cells, per)
			if total {
				cells = append(cells, all)
			}
		}
		return cells
	})
	if len(t.rows) > 0 && len(r.Floor) > 0 {
		t.rows = append(t.rows, floorRow(r, counts))
	}
	return t
}

// floorRow sets the floor below the algorithms.
func floorRow(r *bench.Results, counts []int64) row {
	to := row{algorithm: floorName, store: "any", aside: true}
	for _, n := range counts {
		i := slices.IndexFunc(r.Floor, func(p bench.FloorPoint) bool { return p.Events == n })
		var per, all cell
		if i >= 0 {
			per, all = number(bytesOf(r.Floor[i].Bytes), r.Floor[i].Bytes), number(sizeOf(r.Floor[i].Total), r.Floor[i].Total)
		}
		to.cells = append(to.cells, per)
		if r.Clients > 0 {
			to.cells = append(to.cells, all)
		}
	}
	return to
}

func throughput(r *bench.Results, detail bool) grid {
	t := grid{id: "throughput", title: "Throughput and latency: one round trip for each decision, all admitted"}
	counts := distinct(r, func(res bench.Result) []bench.Throughput { return res.Throughput }, func(h bench.Throughput) int { return h.Callers })
	columns := []column{
		{title: "per second", better: higher}, {title: "spread"}, {title: "p50", better: lower}, {title: "p99", better: lower},
	}
	if detail {
		columns = append(columns, column{title: "p99.9", better: lower})
	}
	for _, n := range counts {
		with := slices.Clone(columns)
		if gathers(r, n) {
			with = append(with, column{title: gatheredTitle, better: higher})
		}
		t.groups = append(t.groups, group{title: digits.Plural(int64(n), "caller"), columns: with})
	}
	t.fill(r, func(res bench.Result) []cell {
		var cells []cell
		for _, n := range counts {
			these := make([]cell, len(columns))
			i := slices.IndexFunc(res.Throughput, func(h bench.Throughput) bool { return h.Callers == n })
			switch {
			case i < 0:
			case res.Throughput[i].NA != "":
				for c := range these {
					these[c] = words(printable(notMeasured(res.Throughput[i].NA)))
				}
			default:
				h := res.Throughput[i]
				latency := func(us float64) cell { return cell{text: micros(us), value: us, spread: h.Spread, known: true} }
				these[0] = cell{text: rough(h.PerSecond), value: h.PerSecond, spread: h.Spread, known: true}
				these[1] = number(percent(h.Spread), h.Spread)
				these[2], these[3] = latency(h.P50US), latency(h.P99US)
				if detail {
					these[4] = latency(h.P999US)
				}
			}
			if gathers(r, n) {
				these = append(these, gatheredCell(res, n))
			}
			cells = append(cells, these...)
		}
		return cells
	})
	return t
}

// distinct returns, in order, all values of one field of what the results hold.
func distinct[T any, K cmp.Ordered](r *bench.Results, of func(bench.Result) []T, field func(T) K) []K {
	seen := map[K]bool{}
	for _, res := range r.Results {
		for _, v := range of(res) {
			seen[field(v)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
