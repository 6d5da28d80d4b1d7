package bench

import (
	"fmt"
	"maps"
	"slices"
)

// metric is a figure that results of one kind hold, by its name in JSON.
type metric[T any] struct {
	name string
	of   func(T) float64
}

var precisionMetrics = []metric[Precision]{
	{"events", func(p Precision) float64 { return float64(p.Events) }},
	{"keys", func(p Precision) float64 { return float64(p.Keys) }},
	{"allowed", func(p Precision) float64 { return float64(p.Allowed) }},
	{"denied", func(p Precision) float64 { return float64(p.Denied) }},
	{"max_in_window", func(p Precision) float64 { return float64(p.MaxInWindow) }},
	{"max_over_limit", func(p Precision) float64 { return p.MaxOverLimit }},
	{"over_admitted", func(p Precision) float64 { return float64(p.OverAdmitted) }},
	{"false_denied", func(p Precision) float64 { return float64(p.FalseDenied) }},
	{"max_deficit", func(p Precision) float64 { return float64(p.MaxDeficit) }},
	{"admitted_ratio", func(p Precision) float64 { return p.AdmittedRatio }},
	{"retry_error_mean_us", func(p Precision) float64 { return p.RetryErrorMeanUS }},
	{"retry_error_max_us", func(p Precision) float64 { return float64(p.RetryErrorMaxUS) }},
}

var memoryMetrics = []metric[Memory]{
	{"bytes_per_key", func(m Memory) float64 { return m.BytesPerKey }},
	{"key_bytes", func(m Memory) float64 { return float64(m.KeyBytes) }},
}

var throughputMetrics = []metric[Throughput]{
	{"per_second", func(t Throughput) float64 { return t.PerSecond }},
	{"spread", func(t Throughput) float64 { return t.Spread }},
	{"p50_us", func(t Throughput) float64 { return t.P50US }},
	{"p99_us", func(t Throughput) float64 { return t.P99US }},
	{"p999_us", func(t Throughput) float64 { return t.P999US }},
}

// Metrics returns the names that thresholds know. Those of [ReplayMetrics] come first.
func Metrics() []string {
	return slices.Concat(ReplayMetrics(), names(memoryMetrics), names(throughputMetrics))
}

// ReplayMetrics returns the names of the figures that a replay has.
func ReplayMetrics() []string { return names(precisionMetrics) }

func names[T any](metrics []metric[T]) []string {
	all := make([]string, len(metrics))
	for i, m := range metrics {
		all[i] = m.name
	}
	return all
}

// figure is one measured value.
type figure struct {
	where string // "boundary-burst", "100 events", "64 callers"
	value float64
}

// figuresOf returns the metric's value, nothing if it is none of these metrics.
func figuresOf[T any](metrics []metric[T], name, where string, from T) []figure {
	for _, m := range metrics {
		if m.name == name {
			return []figure{{where, m.of(from)}}
		}
	}
	return nil
}

// figures returns all values of a metric that were measured for a pair.
func (r Result) figures(name string) (all []figure) {
	for _, scenario := range slices.Sorted(maps.Keys(r.Precision)) {
		if p := r.Precision[scenario]; p.NA == "" {
			all = append(all, figuresOf(precisionMetrics, name, scenario, p)...)
		}
	}
	for _, m := range r.Memory {
		if m.NA == "" {
			all = append(all, figuresOf(memoryMetrics, name, fmt.Sprintf("%d events", m.Events), m)...)
		}
	}
	for _, t := range r.Throughput {
		if t.NA == "" {
			all = append(all, figuresOf(throughputMetrics, name, fmt.Sprintf("%d callers", t.Callers), t)...)
		}
	}
	return all
}
