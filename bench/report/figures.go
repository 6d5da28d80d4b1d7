package report

import (
	"strconv"

	"github.com/weirlimits/weir/bench"
)

// Figure is one number of a run, named as in the results' JSON.
type Figure struct {
	Algorithm string  `json:"algorithm"`
	Store     string  `json:"store"`
	Measure   string  `json:"measure"` // "declared", "precision", "memory" or "throughput"
	At        string  `json:"at"`      // the scenario, the events of a key, or the callers
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Spread    float64 `json:"spread,omitempty"` // (highest - lowest) / Value, where it was measured several times
	NA        string  `json:"na,omitempty"`     // why there is no value
}

// metricOf is a metric of one measure and how a value of it is read.
type metricOf[T any] struct {
	name string
	of   func(T) float64
}

var declaredMetrics = []metricOf[bench.Result]{
	{"declared_max_in_window", func(r bench.Result) float64 { return float64(r.Guarantee.MaxInWindow) }},
	{"declared_deficit", func(r bench.Result) float64 { return float64(r.Guarantee.Deficit) }},
	{"trips", func(r bench.Result) float64 { return float64(r.Trips) }},
	{"denied_trips", func(r bench.Result) float64 { return float64(r.DeniedTrips) }},
}

var precisionMetrics = []metricOf[bench.Precision]{
	{"events", func(p bench.Precision) float64 { return float64(p.Events) }},
	{"keys", func(p bench.Precision) float64 { return float64(p.Keys) }},
	{"allowed", func(p bench.Precision) float64 { return float64(p.Allowed) }},
	{"denied", func(p bench.Precision) float64 { return float64(p.Denied) }},
	{"max_in_window", func(p bench.Precision) float64 { return float64(p.MaxInWindow) }},
	{"max_over_limit", func(p bench.Precision) float64 { return p.MaxOverLimit }},
	{"over_admitted", func(p bench.Precision) float64 { return float64(p.OverAdmitted) }},
	{"false_denied", func(p bench.Precision) float64 { return float64(p.FalseDenied) }},
	{"max_deficit", func(p bench.Precision) float64 { return float64(p.MaxDeficit) }},
	{"wrong", func(p bench.Precision) float64 { return float64(p.Wrong) }},
	{"wrong_share", func(p bench.Precision) float64 { return p.WrongShare }},
	{"mean_error", func(p bench.Precision) float64 { return p.MeanError }},
	{"exact_admitted", func(p bench.Precision) float64 { return float64(p.ExactAdmitted) }},
	{"admitted_ratio", func(p bench.Precision) float64 { return p.AdmittedRatio }},
	{"retry_error_mean_us", func(p bench.Precision) float64 { return p.RetryErrorMeanUS }},
	{"retry_error_max_us", func(p bench.Precision) float64 { return float64(p.RetryErrorMaxUS) }},
	{"server_calls", func(p bench.Precision) float64 { return float64(p.ServerCalls) }},
	{"declared_calls", func(p bench.Precision) float64 { return float64(p.DeclaredCalls) }},
}

var memoryMetrics = []metricOf[bench.Memory]{
	{"bytes_per_key", func(m bench.Memory) float64 { return m.BytesPerKey }},
	{"key_bytes", func(m bench.Memory) float64 { return float64(m.KeyBytes) }},
	{"total_bytes", func(m bench.Memory) float64 { return m.Total }},
}

var floorMetrics = []metricOf[bench.FloorPoint]{
	{"floor_bytes", func(f bench.FloorPoint) float64 { return f.Bytes }},
	{"floor_total_bytes", func(f bench.FloorPoint) float64 { return f.Total }},
}

var throughputMetrics = []metricOf[bench.Throughput]{
	{"per_second", func(t bench.Throughput) float64 { return t.PerSecond }},
	{"p50_us", func(t bench.Throughput) float64 { return t.P50US }},
	{"p99_us", func(t bench.Throughput) float64 { return t.P99US }},
	{"p999_us", func(t bench.Throughput) float64 { return t.P999US }},
}

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

func appendFigures[T any](all []Figure, f Figure, from T, ms []metricOf[T]) []Figure {
	for _, m := range ms {
		f.Metric = m.name
		if f.NA == "" {
			f.Value = m.of(from)
		}
		all = append(all, f)
	}
	return all
}
