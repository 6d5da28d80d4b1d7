package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
)

func results() *bench.Results {
	return &bench.Results{Results: []bench.Result{
		{
			Algorithm: "gcra", Store: "memory:",
			Precision:  map[string]bench.Precision{"on-off": {MaxInWindow: 19, FalseDenied: 2}, "boundary-burst": {MaxInWindow: 10}},
			Memory:     []bench.Memory{{Events: 1, BytesPerKey: 100}, {Events: 10, BytesPerKey: 500}},
			Throughput: []bench.Throughput{{Callers: 64, PerSecond: 900, P99US: 12.5}},
		},
		{
			Algorithm: "gcra", Store: "redis:private",
			Memory:     []bench.Memory{{Events: 1, NA: bench.StandIn}},
			Throughput: []bench.Throughput{{Callers: 64, NA: bench.StandIn}},
		},
		{Algorithm: "ring-log", Store: "memcache:private", Unsupported: []string{"list", "script"}},
	}}
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		text    string
		figures int
		failed  []string
	}{
		{"max_in_window>10", 2, []string{"gcra on memory:, on-off: max_in_window is 19, and max_in_window>10 fails"}},
		{" max_in_window >= 10 ", 2, []string{
			"gcra on memory:, boundary-burst: max_in_window is 10, and max_in_window>=10 fails",
			"gcra on memory:, on-off: max_in_window is 19, and max_in_window>=10 fails",
		}},
		{"bytes_per_key>=500", 2, []string{"gcra on memory:, 10 events: bytes_per_key is 500, and bytes_per_key>=500 fails"}},
		{"per_second<1000", 1, []string{"gcra on memory:, 64 callers: per_second is 900, and per_second<1000 fails"}},
		{"p99_us>12.5", 1, nil},
		{"p99_us<=12.5", 1, []string{"gcra on memory:, 64 callers: p99_us is 12.5, and p99_us<=12.5 fails"}},
		{"over_admitted>0", 2, nil},
		{"false_denied!=0", 2, []string{"gcra on memory:, on-off: false_denied is 2, and false_denied!=0 fails"}},
		{"max_in_window==19", 2, []string{"gcra on memory:, on-off: max_in_window is 19, and max_in_window==19 fails"}},
	} {
		threshold, err := bench.ParseThreshold(c.text)
		require.NoError(t, err)
		failures, figures := threshold.Check(results())
		var failed []string
		for _, f := range failures {
			failed = append(failed, f.String())
		}
		require.Equal(t, c.failed, failed, c.text)
		require.Equal(t, c.figures, figures, c.text)
	}
}

func TestThresholdsOnAReplay(t *testing.T) {
	r := &bench.ReplayResults{Results: []bench.ReplayResult{
		{Algorithm: "gcra", Store: "memory:", Precision: &bench.Precision{Denied: 7}},
		{Algorithm: "ring-log", Store: "memcache:private", Unsupported: []string{"list", "script"}},
	}}
	threshold, err := bench.ParseThreshold("denied>6")
	require.NoError(t, err)
	failures, figures := threshold.CheckReplay(r)
	require.Len(t, failures, 1)
	require.Equal(t, 1, figures)
	require.Equal(t, "gcra on memory:: denied is 7, and denied>6 fails", failures[0].String())

	threshold.Metric = "per_second"
	_, figures = threshold.CheckReplay(r)
	require.Zero(t, figures, "a replay has no such figure")
}

func TestThresholdErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `bench: threshold: "": want METRIC`,
		"max_in_window":       `bench: threshold: "max_in_window": want METRIC`,
		"max_in_window=10":    `bench: threshold: "max_in_window=10": want METRIC`,
		"max_in_window!10":    `want METRIC, one of <= >= == != < >, NUMBER`,
		"speed>10":            `bench: threshold metric: "speed": want one of events, keys, allowed, denied, max_in_window`,
		">10":                 `bench: threshold metric: ""`,
		"max_in_window>":      `bench: threshold number: "": want a number`,
		"max_in_window>ten":   `bench: threshold number: "ten": want a number`,
		"max_in_window>NaN":   `bench: threshold number: "NaN": want a number`,
		"max_in_window>=<1":   `bench: threshold number: "<1": want a number`,
		"max_in_window>1>2":   `bench: threshold number: "1>2": want a number`,
		"max_in_window>1e999": `bench: threshold number: "1e999": want a number`,
	} {
		_, err := bench.ParseThreshold(text)
		require.ErrorContains(t, err, want, text)
	}
}
