package report

import (
	"math"

	"github.com/weirlimits/weir/bench"
)

// metricOf is a metric of one measure and how a value of it is read.
type metricOf[T any] struct {
	name string
	of   func(T) float64 // NaN: the store does not tell
}

// told takes a zero for a figure that the store does not tell.
func told(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
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
	{"gathered_per_second", func(t bench.Throughput) float64 { return told(gatheredOf(t).PerSecond) }},
	{"gathered_p50_us", func(t bench.Throughput) float64 { return told(gatheredOf(t).P50US) }},
	{"gathered_p99_us", func(t bench.Throughput) float64 { return told(gatheredOf(t).P99US) }},
}

// gatheredOf is what the callers got who shared round trips; nothing where none did.
func gatheredOf(t bench.Throughput) bench.Throughput {
	if t.Gathered == nil || t.Gathered.NA != "" {
		return bench.Throughput{}
	}
	return *t.Gathered
}

var boundaryMetrics = []metricOf[[]bench.BoundaryPoint]{
	{"boundary_most", func(p []bench.BoundaryPoint) float64 { most, _, _ := burst(p); return float64(most) }},
	{"boundary_admitted", func(p []bench.BoundaryPoint) float64 { _, admitted, _ := burst(p); return float64(admitted) }},
}

var costMetrics = []metricOf[bench.Cost]{
	{"cost_trips", func(c bench.Cost) float64 { return c.Trips }},
	{"cost_commands", func(c bench.Cost) float64 { return c.Commands }},
	{"cost_server_us", func(c bench.Cost) float64 { return told(c.ServerUS) }},
	{"wire_out_bytes", func(c bench.Cost) float64 { return c.WireOut }},
	{"wire_in_bytes", func(c bench.Cost) float64 { return c.WireIn }},
}

var stallMetrics = []metricOf[bench.Stall]{
	{"stall_longest_us", func(s bench.Stall) float64 { return s.LongestUS }},
	{"stall_idle_us", func(s bench.Stall) float64 { return s.IdleUS }},
}

var eventsMetrics = []metricOf[bench.EventsPoint]{
	{"events_bytes_per_key", func(p bench.EventsPoint) float64 { return told(p.BytesPerKey) }},
	{"events_decision_us", func(p bench.EventsPoint) float64 { return p.DecisionUS }},
	{"events_server_us", func(p bench.EventsPoint) float64 { return told(p.ServerUS) }},
}

var keysMetrics = []metricOf[bench.KeysPoint]{
	{"keys_bytes_per_key", func(p bench.KeysPoint) float64 { return p.BytesPerKey }},
	{"keys_decision_ns", func(p bench.KeysPoint) float64 { return p.DecisionNS }},
}

var callersMetrics = []metricOf[bench.CallersPoint]{
	{"callers_per_second", func(p bench.CallersPoint) float64 { return p.PerSecond }},
	{"callers_p50_us", func(p bench.CallersPoint) float64 { return p.P50US }},
	{"callers_p99_us", func(p bench.CallersPoint) float64 { return p.P99US }},
}

var openMetrics = []metricOf[bench.OpenLoop]{
	{"open_achieved", func(o bench.OpenLoop) float64 { return o.Achieved }},
	{"open_p50_us", func(o bench.OpenLoop) float64 { return o.P50US }},
	{"open_p99_us", func(o bench.OpenLoop) float64 { return o.P99US }},
	{"open_p999_us", func(o bench.OpenLoop) float64 { return o.P999US }},
	{"open_max_us", func(o bench.OpenLoop) float64 { return o.MaxUS }},
}
