package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

func replayed() *report.Replay {
	p := measured().Results[0].Precision["steady"]
	p.ServerCalls = 400
	return &report.Replay{
		Trace: bench.TraceInfo{Name: "access.log", Format: "clf", Events: 400, Keys: 4, Bad: 2, Backward: 1, ResolutionUS: 1e6},
		Limit: bench.LimitInfo{Text: "10/1s", Count: 10, WindowUS: 1e6},
		Results: &bench.ReplayResults{Results: []bench.ReplayResult{
			{
				Algorithm: "gcra", Store: "redis:private", Limit: "10/1s", Precision: &p,
				MostDenied: []bench.Client{
					{Key: hostile, Requests: 200, Denied: 190},
					{Key: "b", Requests: 50, Denied: 40},
					{Key: "c", Requests: 50, Denied: 30},
					{Key: strings.Repeat("d", 1e6), Requests: 50, Denied: 20},
				},
			},
			{Algorithm: "sliding-log", Store: "memcache:private", Limit: "10/1s", Unsupported: []string{"sorted set", "script"}},
		}},
	}
}

func TestReplay(t *testing.T) {
	render := func(format string) string {
		var b bytes.Buffer
		require.NoError(t, replayed().Render(&b, format, nil))
		require.NotContains(t, b.String(), "\x1b", format)
		return b.String()
	}
	text := render("text")
	require.Regexp(t, `gcra +│ redis:private +│ +100 +│ +300 +│ +20 +│ +9 +│ +0 +│ +400`, text)
	require.Regexp(t, `sliding-log +│ memcache:private +│ needs sorted set \+ script`, text)
	require.Contains(t, text, "(190 of 200), b (40 of 50), c (30 of 50)")
	require.NotContains(t, text, "ddd", "three clients")
	require.Contains(t, text, "resolution 1s; 2 bad lines, 1 backward step")
	require.Contains(t, text, "! The trace's times are too coarse")

	var back bench.ReplayResults
	require.NoError(t, json.Unmarshal([]byte(render("json")), &back))
	require.Equal(t, replayed().Results.Results[0].Denied, back.Results[0].Denied)

	require.Contains(t, render("csv"), "gcra,redis:private,precision,trace,denied,300,,\n")
	for _, format := range []string{"md", "html"} {
		page := render(format)
		require.Contains(t, page, "dddd...", "all clients, none at full length")
		require.NotContains(t, page, strings.Repeat("d", 100))
		require.NotContains(t, page, "<script>alert")
	}
}
