package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

func measured() *bench.Results {
	return &bench.Results{
		Version: bench.ResultsVersion,
		Floor:   []bench.FloorPoint{{Events: 10, Bytes: 12.5}},
		Results: []bench.Result{
			{
				Algorithm: "gcra", Store: "memory:", Guarantee: &bench.GuaranteeInfo{MaxInWindow: 19},
				Precision: map[string]bench.Precision{
					"on-off": {MaxInWindow: 19, FalseDenied: 2, Wrong: 2, WrongShare: 0.02}, "boundary-burst": {MaxInWindow: 10},
					"cron": {NA: "a cost of 5000: want at most 1000"},
				},
				Memory:     []bench.Memory{{Events: 1, BytesPerKey: 100}, {Events: 10, BytesPerKey: 500}},
				Throughput: []bench.Throughput{{Callers: 64, PerSecond: 900, P99US: 12.5}},
			},
			{
				Algorithm: "gcra", Store: "redis:private",
				Memory:     []bench.Memory{{Events: 1, NA: bench.StandIn}},
				Throughput: []bench.Throughput{{Callers: 64, NA: bench.StandIn}},
			},
			{Algorithm: "ring-log", Store: "memcache:private", Unsupported: []string{"list", "script"}},
		},
	}
}

// A threshold sees every figure of a run, names the first for which it holds, and is not passed where
// there is none to see.
func TestThresholdsOnMeasuredFigures(t *testing.T) {
	for text, want := range map[string]string{
		"max_in_window>10":           "gcra on memory:: max_in_window at on-off is 19: --fail-if max_in_window>10 holds",
		" max_in_window >= 10 ":      "max_in_window at boundary-burst is 10: ",
		"max_in_window==19":          "max_in_window at on-off is 19: ",
		"max_in_window>19":           "",
		"max_in_window<10":           "",
		"declared_max_in_window>=19": "declared_max_in_window is 19: ",
		"bytes_per_key>=500":         "bytes_per_key at 10 is 500: ",
		"bytes_per_key>500":          "",
		"per_second<1000":            "per_second at 64 is 900: ",
		"p99_us>12.5":                "",
		"p99_us<=12.5":               "p99_us at 64 is 12.5: ",
		"over_admitted>0":            "",
		"false_denied!=0":            "false_denied at on-off is 2: ",
		"wrong_share>0.01":           "wrong_share at on-off is 0.02: ",
		"wrong>2":                    "",
		"mean_error>0":               "",
		"floor_bytes>12":             "floor_bytes at 10 is 12.5: ",
		"total_bytes>0":              "--fail-if total_bytes>0: cannot be checked: no result has that figure",
	} {
		c := &common{metrics: report.Metrics()}
		c.given.failIf = []string{text}
		require.NoError(t, c.parseFailIf(), text)
		err := c.checkFailIf(report.Figures(measured()))
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
		require.Equal(t, exitFailed, exitCode(err))
	}
}

func TestThresholdsOnAReplay(t *testing.T) {
	rep := &report.Replay{Results: &bench.ReplayResults{Results: []bench.ReplayResult{
		{Algorithm: "gcra", Store: "memory:", Precision: &bench.Precision{Denied: 7}},
		{Algorithm: "ring-log", Store: "memcache:private", Unsupported: []string{"list", "script"}},
	}}}
	c := &common{metrics: report.PrecisionMetrics()}
	c.given.failIf = []string{"denied>6"}
	require.NoError(t, c.parseFailIf())
	require.ErrorContains(t, c.checkFailIf(report.Figures(rep.AsResults())), "gcra on memory:: denied at trace is 7: ")

	c.given.failIf = []string{"per_second>6"}
	require.ErrorContains(t, c.parseFailIf(), `metric: "per_second"`, "a replay has no such figure")
}
