package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/hammer"
)

func hammered() *hammer.Report {
	exact := hammer.Count{Allowed: 10, Denied: 90}
	return &hammer.Report{
		Version: hammer.ReportVersion, Processes: 2, Workers: 3, Requests: 100, SpreadUS: 20_000,
		Results: []hammer.Result{
			{Algorithm: "gcra", Store: "redis:private", ExpectedMax: 10, Runs: []hammer.Count{exact, exact}, Verdict: hammer.Exact},
			{
				Algorithm: "gcra", Store: "redis:private", LatencyUS: 1500, ExpectedMax: 10, Verdict: hammer.Over,
				Runs: []hammer.Count{exact, {Allowed: 13, Denied: 87, Restarts: 2}},
			},
			{Algorithm: "sliding-log", Store: "memcache:private", Unsupported: "needs sorted set + script"},
		},
	}
}

func TestHammerTable(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeHammer(&b, formatText, hammered()))
	out := b.String()
	require.Contains(t, out, "2 processes of 3 workers (beginning over 20ms) send 100 requests at one key, limit , 2 runs of each.\n")
	require.Regexp(t, `(?m)^ gcra +redis:private +0s +10 +90 +10 +0 +exact$`, out)
	require.Regexp(t, `(?m)^ gcra +redis:private +1.5ms +10 to 13 +87 to 90 +10 +0 to 3 +FAILED: 3 over$`, out)
	require.Regexp(t, `(?m)^ sliding-log +memcache:private +- +- +- +- +- +needs sorted set \+`, out)
	require.Contains(t, out, "2 runs started again, because time freed a place meanwhile")
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, len([]rune(line)), 121)
		require.NotRegexp(t, ` \n$`, line)
	}
}

func TestHammerCSVHasALinePerRun(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeHammer(&b, formatCSV, hammered()))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 6)
	require.Equal(t, "gcra,redis:private,,,1500,2,13,87,0,10,over,", lines[4])
	require.Equal(t, "sliding-log,memcache:private,,,0,,,,,,,needs sorted set + script", lines[5])
}

func TestHammerJSONHoldsTheReport(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeHammer(&b, formatJSON, hammered()))
	var got hammer.Report
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	require.Equal(t, hammered(), &got)
}

func TestHammerNotes(t *testing.T) {
	rep := hammered()
	rep.Results = rep.Results[:1]
	require.Empty(t, hammerNotes(rep))
	r := &rep.Results[0]
	r.PerProcess, r.ExpectedMax = true, 20
	require.Contains(t, hammerNotes(rep)[0], "On redis:private the counts lie in each process, and each process counts alone, so 2 processes let 2 x 10 through")
	r.PerProcess, r.Verdict, r.Exactness = false, hammer.Fewer, weir.Plan{Spurious: true}.Exactness()
	require.Contains(t, hammerNotes(rep)[0], "gcra on redis:private: its plan adds first and gives back what it then denies")
	r.Verdict, r.Exactness = hammer.Over, weir.Plan{Racy: true}.Exactness()
	require.Contains(t, hammerNotes(rep)[0], "The racy ones look first and write later")
	require.Len(t, hammerNotes(rep), 1)
}

func TestHammerVerdict(t *testing.T) {
	h := &hammerCommand{common: &common{}}
	require.ErrorContains(t, h.verdict(hammered()), "gcra on redis:private: expected 10 of 100 requests to get through: FAILED: 3 over")
	rep := hammered()
	rep.Results = rep.Results[:1]
	require.NoError(t, h.verdict(rep))
	for expr, holds := range map[string]bool{
		"allowed>=10": true, "denied<90": false, "excess>0": false, "errors==0": true,
	} {
		limit, err := parseThreshold(expr, hammerMetrics())
		require.NoError(t, err)
		h.failIf = []threshold{limit}
		require.Equal(t, holds, h.verdict(rep) != nil, expr)
	}
	rep.Results = hammered().Results[2:]
	require.ErrorContains(t, h.verdict(rep), "nothing was checked")
}
