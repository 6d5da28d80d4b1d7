package report

import (
	"math"
	"strconv"

	"github.com/weirlimits/weir/bench"
)

// Figure is one number of a run, named as in the results' JSON.
type Figure struct {
	Algorithm string  `json:"algorithm"`
	Store     string  `json:"store"`
	Measure   string  `json:"measure"` // "declared", "precision", "boundary", "memory", "throughput", "cost", "stall", "events", "keys", "callers" or "open"
	At        string  `json:"at"`      // the scenario, the events of a key, the keys, the callers, or the rate
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Spread    float64 `json:"spread,omitempty"` // (highest - lowest) / Value, where it was measured several times
	NA        string  `json:"na,omitempty"`     // why there is no value
}

// notTold is the NA of what a store does not tell.
const notTold = "not told"

// floorName stands in place of an algorithm for what no algorithm can undercut.
const floorName = "floor (information)"

// PrecisionMetrics names those of precision alone.
func PrecisionMetrics() []string { return appendNames(nil, precisionMetrics) }

// Metrics names all metrics that a [Figure] can have.
func Metrics() []string {
	var names []string
	names = appendNames(names, precisionMetrics)
	names = appendNames(names, memoryMetrics)
	names = appendNames(names, throughputMetrics)
	names = appendNames(names, floorMetrics)
	names = appendNames(names, boundaryMetrics)
	names = appendNames(names, costMetrics)
	names = appendNames(names, stallMetrics)
	names = appendNames(names, eventsMetrics)
	names = appendNames(names, keysMetrics)
	names = appendNames(names, callersMetrics)
	names = appendNames(names, openMetrics)
	return appendNames(names, declaredMetrics)
}

func appendNames[T any](names []string, ms []metricOf[T]) []string {
	for _, m := range ms {
		names = append(names, m.name)
	}
	return names
}

// Figures returns all numbers of a run, one after the other, in the order of its results.
func Figures(r *bench.Results) []Figure {
	var all []Figure
	scenarios := scenarioNames(r)
	for _, res := range r.Results {
		f := Figure{Algorithm: res.Algorithm, Store: res.Store}
		if res.Guarantee != nil {
			f.Measure = "declared"
			all = appendFigures(all, f, res, declaredMetrics)
		}
		f.Measure = "precision"
		for _, s := range scenarios {
			if p, ok := res.Precision[s]; ok {
				f.At, f.NA = s, p.NA
				all = appendFigures(all, f, p, precisionMetrics)
			}
		}
		f.Measure = "memory"
		for _, m := range res.Memory {
			f.At, f.NA = strconv.FormatInt(m.Events, 10), m.NA
			ms := memoryMetrics
			if r.Clients == 0 {
				ms = ms[:2] // nothing to total
			}
			all = appendFigures(all, f, m, ms)
		}
		f.Measure = "throughput"
		for _, t := range res.Throughput {
			f.At, f.NA, f.Spread = strconv.Itoa(t.Callers), t.NA, t.Spread
			all = appendFigures(all, f, t, throughputMetrics)
		}
		f.Spread = 0
		all = append(all, costFigures(f, res)...)
		all = append(all, growthFigures(f, res)...)
	}
	return append(all, floorFigures(r)...)
}

// floorFigures belong to no store.
func floorFigures(r *bench.Results) (all []Figure) {
	ms := floorMetrics
	if r.Clients == 0 {
		ms = ms[:1]
	}
	for _, p := range r.Floor {
		f := Figure{Algorithm: floorName, Measure: "memory", At: strconv.FormatInt(p.Events, 10)}
		all = appendFigures(all, f, p, ms)
	}
	return all
}

// costFigures are of the burst, of the cost and of the stall; f names whose.
func costFigures(f Figure, res bench.Result) (all []Figure) {
	if len(res.Boundary) > 0 {
		f.Measure, f.At, f.NA = "boundary", "", ""
		all = appendFigures(all, f, res.Boundary, boundaryMetrics)
	}
	if c := res.Cost; c != nil {
		f.Measure, f.At, f.NA = "cost", "", c.NA
		all = appendFigures(all, f, *c, costMetrics)
	}
	if s := res.Stall; s != nil {
		f.Measure, f.At, f.NA = "stall", strconv.FormatInt(s.Events, 10), s.NA
		all = appendFigures(all, f, *s, stallMetrics)
	}
	return all
}

// growthFigures are of what was measured at several sizes and rates; f names whose.
func growthFigures(f Figure, res bench.Result) (all []Figure) {
	if g := res.Growth; g != nil {
		f.Measure = "events"
		for _, p := range g.Events {
			f.At, f.NA = strconv.FormatInt(p.Events, 10), p.NA
			all = appendFigures(all, f, p, eventsMetrics)
		}
		f.Measure = "keys"
		for _, p := range g.Keys {
			f.At, f.NA = strconv.FormatInt(p.Keys, 10), p.NA
			all = appendFigures(all, f, p, keysMetrics)
		}
		f.Measure = "callers"
		for _, p := range g.Callers {
			f.At, f.NA, f.Spread = strconv.Itoa(p.Callers), p.NA, p.Spread
			all = appendFigures(all, f, p, callersMetrics)
		}
	}
	f.Measure, f.Spread = "open", 0
	for _, o := range res.OpenLoop {
		f.At, f.NA = plain(o.Rate), o.NA
		all = appendFigures(all, f, o, openMetrics)
	}
	return all
}

func appendFigures[T any](all []Figure, f Figure, from T, ms []metricOf[T]) []Figure {
	for _, m := range ms {
		one := f
		one.Metric = m.name
		if one.NA == "" {
			one.Value = m.of(from)
		}
		if math.IsNaN(one.Value) {
			one.Value, one.NA = 0, notTold
		}
		all = append(all, one)
	}
	return all
}
