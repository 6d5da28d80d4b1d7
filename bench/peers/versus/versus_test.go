package versus

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/bench/peers"
	"github.com/weirlimits/weir/internal/digits"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// requireServers skips the test, or fails it where they are required, if a server is missing.
func requireServers(t *testing.T) {
	s, err := server.StartRedis(t.Context(), nil)
	servertest.Adopt(t, s, err)
	s, err = server.StartMemcached(t.Context(), nil)
	servertest.Adopt(t, s, err)
}

func TestRun(t *testing.T) {
	requireServers(t)
	settings := Quick()
	results, err := Run(t.Context(), settings, nil)
	require.NoError(t, err)
	require.Empty(t, results.Incomplete)
	require.Len(t, results.Rows, 4*len(ours())+len(peers.All()), "on Redis there are two of ours")
	for _, row := range results.Rows {
		require.Empty(t, row.Error, row.String())
		require.NotEmpty(t, row.Version, row.String())
		if row.Needs != "" {
			require.Equal(t, "weir sliding-log on memcache", row.String())
			continue
		}
		checkSpeed(t, row, settings)
		require.Len(t, row.Memory, 1, row.String())
		if row.Store == peers.Memory {
			require.Positive(t, row.Memory[0].BytesPerKey, row.String())
			require.Less(t, row.Memory[0].BytesPerKey, 4096.0, row.String())
		}
		checkPrecision(t, row)
	}
	for _, r := range results.Ratios {
		require.Positive(t, r.Ratio)
		require.LessOrEqual(t, r.Low, r.High)
	}
	stores := map[string]int{}
	for _, r := range results.Ratios {
		stores[r.Store]++
	}
	require.Positive(t, stores[peers.Memory])
	require.Positive(t, stores[peers.Redis])
	require.Zero(t, stores[peers.Memcache], "no peer runs there")

	var text, file bytes.Buffer
	require.NoError(t, results.WriteText(&text))
	for _, row := range results.Rows {
		require.Contains(t, text.String(), "\n"+row.Name+" ")
	}
	require.NoError(t, results.WriteJSON(&file))
	var back Results
	require.NoError(t, json.Unmarshal(file.Bytes(), &back))
	require.Len(t, back.Rows, len(results.Rows))
	require.NotEmpty(t, back.Environment.Servers)
}

func checkSpeed(t *testing.T, row *Row, settings Settings) {
	t.Helper()
	want := len(settings.ServerCallers)
	if row.Store == peers.Memory {
		want = len(settings.LocalKeys)
	}
	require.Len(t, row.Speed, want, row.String())
	for _, s := range row.Speed {
		if row.Name == "throttled" && s.Keys == 1 && s.NA != "" {
			require.Contains(t, s.NA, "after 10 attempts")
			continue
		}
		require.Empty(t, s.NA, row.String())
		require.Equal(t, settings.Repetitions, s.Repetitions)
		require.Positive(t, s.PerSecond)
		require.InEpsilon(t, 1e9, s.PerSecond*s.NSPerOp, 1e-9)
		most := 0.0
		for _, n := range s.Commands {
			most = max(most, n)
		}
		if row.Store != peers.Memory {
			require.GreaterOrEqual(t, most, 0.99, "%s: %v", row, s.Commands)
		}
	}
}

func checkPrecision(t *testing.T, row *Row) {
	t.Helper()
	p := row.Precision
	if row.Name == "uber/ratelimit" {
		require.NotEmpty(t, p.NA)
		return
	}
	require.Empty(t, p.NA)
	require.GreaterOrEqual(t, p.MaxInWindow, preciseLimit.Count*2/3, row.String())
	require.LessOrEqual(t, p.MaxInWindow, 2*preciseLimit.Count, row.String())
	if row.Ours {
		require.True(t, p.Simulated)
		require.Zero(t, p.Steady.Denied, row.String())
		if strings.HasSuffix(row.Name, "-log") {
			require.Equal(t, preciseLimit.Count, p.MaxInWindow, row.String())
			require.Zero(t, p.Pushed.FalseDenied, row.String())
		}
	}
}

// What was measured before an interrupt is kept.
func TestInterrupted(t *testing.T) {
	requireServers(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pieces := 0
	results, err := Run(ctx, Quick(), func(string) {
		if pieces++; pieces == 4 {
			cancel()
		}
	})
	require.NoError(t, err)
	require.Contains(t, results.Incomplete, "context canceled during weir sliding-log on memory: precision")
	measured := slices.DeleteFunc(slices.Clone(results.Rows), func(r *Row) bool { return r.Precision == nil })
	require.Len(t, measured, 3)
	var text bytes.Buffer
	require.NoError(t, results.WriteText(&text))
	require.Contains(t, text.String(), "incomplete: context canceled")
}

func TestMissingServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Run(t.Context(), Quick(), nil)
	require.ErrorContains(t, err, "want the server itself on PATH")
	_, err = Run(t.Context(), Settings{}, nil)
	require.ErrorContains(t, err, "versus: settings: ")
}

// The loops' limits suit the limiters for which they are made.
func TestLoopLimits(t *testing.T) {
	row := func(store string) *Row { return &Row{Store: store} }
	for _, c := range []struct {
		contender contender
		keys      int
		want      weir.Limit
	}{
		{contender{Row: row(peers.Memory)}, 1, localLimit},
		{contender{Row: row(peers.Memory), logs: true}, 1, logLimit},
		{contender{Row: row(peers.Memory), logs: true}, 10, serverLimit},
		{contender{Row: row(peers.Redis), logs: true}, 10, serverLimit},
		{contender{Row: row(peers.Memory), waits: true}, 10, waitLimit},
	} {
		require.Equal(t, c.want, c.contender.loopLimit(c.keys))
		require.NoError(t, c.want.Validate())
	}
}

// A denial within the length of a call of a place's return is no false one, and two admissions that a
// call's length may have put into two windows are not in one.
func TestJudgingInRealTimeIsLenient(t *testing.T) {
	window := preciseLimit.Window.Microseconds()
	fill := func(at int64) (calls []call) {
		for range preciseLimit.Count {
			calls = append(calls, call{sent: at, answered: at + 1, allowed: true})
		}
		return calls
	}
	judged := func(calls []call) Precision {
		tr, p := &trial{calls: calls, key: "k"}, Precision{}
		tr.judge(&p, 1, 0)
		return p
	}
	long := call{sent: 0, answered: 1000}
	p := judged(append(append([]call{long}, fill(5000)...), fill(5000+window-1000)...))
	require.Equal(t, preciseLimit.Count, p.MaxInWindow)
	p = judged(append(append([]call{long}, fill(5000)...), fill(5000+window-1001)...))
	require.Equal(t, 2*preciseLimit.Count, p.MaxInWindow)

	denied := func(after int64) Precision {
		return judged(append(append([]call{long}, fill(5000)...), call{sent: 5000 + window + after, answered: 5001 + window + after}))
	}
	require.EqualValues(t, 1, denied(0).Steady.FalseDenied, "the long call was denied at once")
	require.EqualValues(t, 1, denied(999).Steady.FalseDenied)
	require.EqualValues(t, 2, denied(1000).Steady.FalseDenied)
	require.EqualValues(t, oracle.Report{}.MaxInWindow, judged([]call{long}).MaxInWindow)
}

func TestRatios(t *testing.T) {
	row := func(ours bool, name string, bytes float64, rates ...float64) *Row {
		s := &Speed{Keys: 10, Callers: 2, rates: rates}
		return &Row{Ours: ours, Name: name, Store: peers.Redis, Speed: []*Speed{s}, Memory: []Memory{{Events: 1, Keys: 2000, BytesPerKey: bytes}}}
	}
	lost := row(false, "denied", 0, 1, 1, 1)
	lost.Speed[0].NA = "3 of 4 requests were denied"
	elsewhere := row(false, "elsewhere", 1, 1)
	elsewhere.Store = peers.Memory
	require.Equal(t, []Ratio{
		{Ours: "a", Peer: "b", Store: peers.Redis, Measure: "10 keys, 2 callers: decisions per second", Ratio: 3, Low: 0.5, High: 4, Better: true},
		{Ours: "a", Peer: "b", Store: peers.Redis, Measure: "2,000 keys, 1 request each: bytes per key", Ratio: 2, Low: 2, High: 2},
	}, ratios([]*Row{row(true, "a", 200, 30, 40, 5), row(false, "b", 100, 10, 10, 10), lost, elsewhere}))
}

func TestDeniedLoopsHaveNoFigure(t *testing.T) {
	s := &Speed{rates: []float64{1, 2}, Decisions: 10, denied: 1}
	s.finish(peers.Memory)
	require.Equal(t, "1 of 10 requests were denied", s.NA)
	s = &Speed{rates: []float64{1, 2, 4}, Decisions: 10, counted: map[string]int64{"get": 5}}
	s.finish(peers.Redis)
	require.Equal(t, "the server counted 0.50 commands of a kind for each decision: want 1", s.NA)
	require.Equal(t, 2.0, s.PerSecond)
	require.Equal(t, 1.5, s.Spread)
	s = &Speed{rates: []float64{1}, Decisions: 1, failed: "after 10 attempts"}
	s.finish(peers.Memory)
	require.Equal(t, "after 10 attempts", s.NA)
	s = &Speed{}
	s.finish(peers.Redis)
	require.Equal(t, "not measured", s.NA)
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1_000_001: "1,000,001"} {
		require.Equal(t, want, digits.Group(n))
	}
}
