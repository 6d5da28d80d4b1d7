package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/report"
)

func replayed() *report.Replay {
	p := measured().Results[0].Precision["steady"]
	p.ServerCalls = 400
	return &report.Replay{
		Trace: bench.TraceInfo{Name: "access.log", Format: "clf", Events: 400, Keys: 4, Bad: 2, Backward: 1, ResolutionUS: 1e6},
		Limit: bench.LimitInfo{Text: "10/1s", Count: 10, WindowUS: 1e6},
		Results: &bench.ReplayResults{
			Results: []bench.ReplayResult{
				{
					Algorithm: "gcra", Store: "redis:private", Limit: "10/1s", Precision: &p,
					Denials: &insight.Denials{
						Clients: 4, ClientsShare: 1, RequestShare: 0.75, LockedOutUS: 130e6, LongestUS: 61e6,
						Hours: [24]int64{8: 40, 9: 200, 10: 20, 23: 40}, OverTime: []int64{40, 200, 60},
					},
					MostDenied: []insight.Client{
						{
							Key: hostile, Requests: 200, Denied: 190, LockedOutUS: 90e6, LongestUS: 61e6,
							FirstDeniedUS: monday, LastDeniedUS: monday + 3600e6,
						},
						{Key: "b", Requests: 50, Denied: 40},
						{Key: "c", Requests: 50, Denied: 30},
						{Key: strings.Repeat("d", 1e6), Requests: 50, Denied: 20},
					},
				},
				{
					Algorithm: "packed-log", Store: "redis:private", Limit: "10/1s", Precision: &p,
					Denials: &insight.Denials{OverTime: []int64{0, 0, 0}},
				},
				{Algorithm: "sliding-log", Store: "memcache:private", Limit: "10/1s", Unsupported: []string{"sorted set", "script"}},
			},
			Span: insight.Span{StartUS: monday, StepUS: 1800e6, Requests: []int64{100, 250, 70}, Hours: [24]int64{8: 100, 9: 250, 10: 70}},
			WhatIf: []insight.Outcome{
				{Algorithm: "gcra", Limit: "10/1s", DeniedClients: 4, ClientsShare: 1, Denied: 300, RequestShare: 0.75, MaxInWindow: 19, FalseDenied: 7},
				{Algorithm: "gcra", Limit: "50/1s", DeniedClients: 1, ClientsShare: 0.25, Denied: 4, RequestShare: 0.01, MaxInWindow: 60},
				{Algorithm: "sliding-log", Limit: "10/1s", NA: "needs script"},
				{Algorithm: "sliding-log", Limit: "50/1s", NA: "needs script"},
			},
			Found: []insight.Found{
				{
					Algorithm: "gcra", WindowUS: 60e6, Goal: fewClients, Limit: 27, RuledOut: 12,
					Outcome: &insight.Outcome{Limit: "27/1m"}, OneLess: &insight.Outcome{Limit: "26/1m", ClientsShare: 0.0025, RequestShare: 0.03},
				},
				{Algorithm: "sliding-log", WindowUS: 60e6, Goal: fewClients, NA: "needs script"},
			},
		},
	}
}

var fewClients = insight.Goal{Of: insight.Clients, Most: 0.001}

// monday is 1 June 2026, 08:30 UTC.
var monday = time.Date(2026, 6, 1, 8, 30, 0, 0, time.UTC).UnixMicro()

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

func TestReplayTellsWhoWasDenied(t *testing.T) {
	render := func(format string) string {
		var b bytes.Buffer
		require.NoError(t, replayed().Render(&b, format, nil))
		return b.String()
	}
	text := render("text")
	require.Regexp(t, `gcra +│ where it runs +│ +4 +│ +100.0% +│ +75.0% +│ +1.02min +│ +2.17min`, text)
	require.Regexp(t, `packed-log +│ where it runs +│ +0 +│ +0 +│ +0 +│ +0 +│ +0`, text)
	require.Contains(t, text, "09 h (200), 08 h (40), 23 h (40)")
	require.Contains(t, text, "1m: at most 0.1% of clients denied")
	require.Regexp(t, `gcra +│ in process +│ 27 \(tried from 12\) +│ +0 +│ +0 +│ +0.25% +│ +3%`, text)
	require.Regexp(t, `sliding-log +│ in process +│ needs script`, text)
	require.Regexp(t, `gcra +│ in process +│ +100.0% +│ +75.0% +│ +19 +│ +7 +│ +25.0% +│ +1% +│ +60 +│ +0`, text)
	require.Contains(t, text, "a smaller one may do as well")

	csv := render("csv")
	for _, line := range []string{
		"gcra,redis:private,denials,,denied_clients_share,1,,",
		"gcra,redis:private,hour,09,denied,200,,",
		"gcra,redis:private,time,2026-06-01T09:00:00Z,denied,200,,",
		"gcra,redis:private,client,b,denied,40,,",
		"gcra,in process,what_if,50/1s,denied_share,0.01,,",
		"sliding-log,in process,what_if,50/1s,denied_share,,,n/a (needs script)",
		"gcra,in process,find_limit,1m: at most 0.1% of clients denied,limit,27,,",
		"gcra,in process,one_less,1m: at most 0.1% of clients denied,denied_share,0.03,,",
	} {
		require.Contains(t, csv, "\n"+line+"\n")
	}

	page := render("html")
	require.Contains(t, page, "At most, gcra denied 200 of 250 requests, from 2026-06-01 09:00:00 on.")
	require.Contains(t, page, "At most, gcra denied 200 of 250 requests, from 09:00 on.")
	require.Contains(t, page, "A higher limit denies fewer: with gcra 100.0% of clients at 10, 25.0% at 50.")
	for _, id := range []string{"over-time-chart", "hours-chart", "what-if-chart", "denials", "worst", "over-time", "hours", "find-limit", "what-if"} {
		require.Contains(t, page, `id="`+id+`"`)
	}
	require.Contains(t, render("md"), "2026-06-01 08:30:00 | 2026-06-01 09:30:00 | 1.02min | 1.5min |")

	checked := map[string]float64{}
	for _, f := range replayed().Figures() {
		if f.Algorithm == "gcra" {
			checked[f.Metric] = f.Value
		}
	}
	for _, name := range report.ReplayMetrics() {
		require.Contains(t, checked, name)
	}
	require.Equal(t, 0.75, checked["denied_share"])
	require.Equal(t, 61e6, checked["longest_us"])
}

// Where nobody is denied and nothing else is asked, no chart and no table is empty.
func TestReplayWithoutDenials(t *testing.T) {
	r := replayed()
	r.Results.Results, r.Results.WhatIf, r.Results.Found = r.Results.Results[1:], nil, nil
	var b bytes.Buffer
	require.NoError(t, r.Render(&b, "html", nil))
	for _, id := range []string{"over-time-chart", "hours-chart", "what-if-chart", "worst", "find-limit", "what-if"} {
		require.NotContains(t, b.String(), `id="`+id+`"`)
	}
	require.Contains(t, b.String(), `id="denials"`)
}
