package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func replay(t *testing.T, c bench.ReplayConfig) *bench.ReplayResults {
	t.Helper()
	r, err := bench.Replay(t.Context(), c, nil)
	require.NoError(t, err)
	return r
}

// Ninety-nine requests in the last seconds of five minutes, as many in the first of the next.
func TestNinetyNineAcrossTheBoundary(t *testing.T) {
	boundary := noon.Add(5 * time.Minute)
	events := slices.Concat(
		burst(boundary.Add(-10*time.Second), 100*time.Millisecond, 99, "client"),
		burst(boundary, 100*time.Millisecond, 99, "client"),
	)
	r := replay(t, bench.ReplayConfig{
		Algorithms: algorithms.All(), Backends: openReal(t), Limit: limit(t, "100/5m"), Events: events,
	})
	require.Empty(t, r.Incomplete)
	most := map[string]int64{
		"fixed-window": 198, "fixed-window-first-hit": 100, "sliding-log": 100, "ring-log": 100, "packed-log": 100,
	}
	for _, res := range r.Results {
		if want, ok := most[res.Algorithm]; ok && res.Precision != nil {
			require.Equal(t, want, res.MaxInWindow, "%s on %s", res.Algorithm, res.Store)
			require.Equal(t, want, res.Allowed)
			require.EqualValues(t, 198, res.Events)
			require.EqualValues(t, 100, res.ExactAdmitted)
			require.Equal(t, 1, res.Keys)
		}
	}
}

// RL-001: a replay shows it: five a minute, and ten come within 5.4 s around the minute.
func TestRL001TenLoginsAroundTheMinute(t *testing.T) {
	events := slices.Concat(
		burst(noon.Add(-5*time.Second), time.Second, 5, "client"),
		burst(noon, 100*time.Millisecond, 5, "client"),
	)
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithm(t, "fixed-window"), algorithm(t, "sliding-log")},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "5/1m"), Events: events,
	})
	require.EqualValues(t, 10, r.Results[0].MaxInWindow)
	require.Empty(t, r.Results[0].MostDenied)
	require.EqualValues(t, 5, r.Results[1].MaxInWindow)
	require.Zero(t, r.Results[0].Denials.Clients)
	// The first of the five leaves the window 55 s after noon.
	require.Equal(t, []insight.Client{{
		Key: "client", Requests: 10, Denied: 5, FirstDeniedUS: noon.UnixMicro(), LastDeniedUS: noon.UnixMicro() + 400_000,
		LockedOutUS: 55e6, LongestUS: 55e6,
	}}, r.Results[1].MostDenied)
	require.Equal(t, &insight.Denials{
		Clients: 1, ClientsShare: 1, RequestShare: 0.5, LockedOutUS: 55e6, LongestUS: 55e6, Hours: [24]int64{12: 5},
		OverTime: []int64{0, 0, 0, 0, 0, 5},
	}, r.Results[1].Denials)
	require.Equal(t, insight.Span{
		StartUS: noon.Add(-5 * time.Second).UnixMicro(), StepUS: 1e6, Requests: []int64{1, 1, 1, 1, 1, 5}, Hours: [24]int64{11: 5, 12: 5},
	}, r.Span)
}

// mixed is n requests of several keys, among them a peek and costs of three and a hundred.
func mixed(n int) []trace.Event {
	var events []trace.Event
	for i := range n {
		events = append(events, trace.Event{
			Time: noon.UnixMicro() + int64(i)*3000, Key: string(rune('a' + i*i%7)), Cost: 1,
		})
	}
	events[5].Cost, events[n/2].Cost, events[n-1].Cost = 0, 100, 3
	return events
}

func TestDecisionsComeInTheOrderOfTheTrace(t *testing.T) {
	events := mixed(20_000) // more than are decided at once
	seen := map[string][]bench.Decided{}
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra,burst=4"), algorithm(t, "fixed-window")},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "10/1s"), Events: events, Top: 2,
		Decision: func(d bench.Decided) error {
			require.Equal(t, "memory:", d.Store)
			seen[d.Algorithm] = append(seen[d.Algorithm], d)
			return nil
		},
	})
	require.Len(t, seen, 2)
	for _, res := range r.Results {
		all := seen[res.Algorithm]
		require.Len(t, all, len(events))
		var allowed, denied int64
		byKey := map[string]int64{}
		for i, d := range all {
			require.Equal(t, events[i], d.Event)
			if d.Decision.Allowed {
				allowed++
			} else {
				denied++
				byKey[d.Event.Key]++
			}
		}
		require.Equal(t, allowed, res.Allowed)
		require.Equal(t, denied, res.Denied)
		require.Len(t, res.MostDenied, 2)
		require.GreaterOrEqual(t, res.MostDenied[0].Denied, res.MostDenied[1].Denied)
		for _, c := range res.MostDenied {
			require.Equal(t, byKey[c.Key], c.Denied)
		}
		require.True(t, all[5].Decision.Allowed, "a peek")
		require.Equal(t, weir.Never, all[10_000].Decision.RetryAfter)
	}
}

func TestReplayReachesTheServer(t *testing.T) {
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra"), algorithm(t, "fixed-window"), algorithm(t, "ring-log")},
		Backends:   openReal(t), Limit: limit(t, "10/1s"), Events: mixed(600),
	})
	require.Empty(t, r.Incomplete)
	for _, res := range r.Results {
		switch {
		case res.Unsupported != nil:
			require.Equal(t, "ring-log", res.Algorithm)
			require.Equal(t, "memcache:private", res.Store)
			require.Equal(t, []string{"list", "script"}, res.Unsupported)
		case res.Store == "memory:":
			require.Zero(t, res.ServerCalls+res.DeclaredCalls)
		default:
			require.GreaterOrEqual(t, res.ServerCalls, res.Precision.Events)
			require.Equal(t, res.DeclaredCalls, res.ServerCalls, "%s on %s", res.Algorithm, res.Store)
		}
	}
}

func TestReplayJSON(t *testing.T) {
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra,burst=3"), algorithm(t, "sliding-log")},
		Backends:   []*backend.Backend{open(t, "memory:"), open(t, "memcache:private")}, Limit: limit(t, "10/1s"),
		Events: burst(noon, 0, 20, "client"),
	})
	var out bytes.Buffer
	require.NoError(t, json.NewEncoder(&out).Encode(r))
	var back struct{ Results []map[string]any }
	require.NoError(t, json.Unmarshal(out.Bytes(), &back))
	require.Len(t, back.Results, 4)
	for _, name := range []string{"algorithm", "store", "limit", "events", "keys", "allowed", "denied", "max_in_window", "over_admitted", "false_denied"} {
		require.Contains(t, back.Results[0], name)
	}
	require.Equal(t, "gcra,burst=3", back.Results[0]["algorithm"])
	require.Equal(t, "10/1s", back.Results[0]["limit"])
	require.Equal(t, 3.0, back.Results[0]["allowed"])
	require.Equal(t, []any{"sorted set", "script"}, back.Results[3]["unsupported"])
	require.NotContains(t, back.Results[3], "events")
}

func TestReplayRefusesWhatMakesNoSense(t *testing.T) {
	good := bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra")}, Backends: []*backend.Backend{open(t, "memory:")},
		Limit: limit(t, "10/1s"), Events: burst(noon, time.Second, 3, "a"),
	}
	for want, spoil := range map[string]func(*bench.ReplayConfig){
		"bench: Algorithms: none":   func(c *bench.ReplayConfig) { c.Algorithms = nil },
		"bench: Backends: none":     func(c *bench.ReplayConfig) { c.Backends = nil },
		"limit count":               func(c *bench.ReplayConfig) { c.Limit.Count = 0 },
		"bench: Events: none":       func(c *bench.ReplayConfig) { c.Events = nil },
		"bench: Events[1].Time":     func(c *bench.ReplayConfig) { c.Events = slices.Concat(c.Events, c.Events)[2:] },
		"bench: Events[0].Cost: -1": func(c *bench.ReplayConfig) { c.Events = []trace.Event{{Time: 5, Key: "a", Cost: -1}} },
	} {
		c := good
		spoil(&c)
		_, err := bench.Replay(t.Context(), c, nil)
		require.ErrorContains(t, err, want)
	}
}

func TestReplayEndsEarly(t *testing.T) {
	c := bench.ReplayConfig{
		Algorithms: algorithms.All(), Backends: []*backend.Backend{open(t, "memory:")},
		Limit: limit(t, "10/1s"), Events: burst(noon, time.Millisecond, 100, "a"),
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := bench.Replay(ctx, c, cancelAt(cancel, 2))
	require.NoError(t, err)
	require.Len(t, r.Results, 2)
	require.Contains(t, r.Incomplete, "context canceled during "+c.Algorithms[2].String()+" on memory:")

	full := errors.New("the disk is full")
	c.Decision = func(bench.Decided) error { return full }
	_, err = bench.Replay(t.Context(), c, nil)
	require.Equal(t, full, err)

	c.Decision, c.Events = nil, []trace.Event{{Time: noon.UnixMicro(), Key: "a", Cost: 1500}}
	c.Limit.Count = 2000
	r, err = bench.Replay(t.Context(), c, nil)
	require.NoError(t, err)
	require.Empty(t, r.Incomplete)
	i := slices.IndexFunc(r.Results, func(res bench.ReplayResult) bool { return res.Algorithm == "sliding-log" })
	require.Contains(t, r.Results[i].NA, "a cost of 1500: want at most 1000")
	require.Len(t, r.Results, len(c.Algorithms), "the others go on")
}

func TestParity(t *testing.T) {
	backends := append(openReal(t), open(t, "memcache+counter:private"))
	ran := map[string]int{}
	for _, a := range algorithms.All() {
		difference, n, err := bench.Parity(t.Context(), a, limit(t, "10/1s"), backends, mixed(600))
		require.NoError(t, err)
		require.Nil(t, difference, "%s", difference)
		ran[a.String()] = n
	}
	require.Equal(t, 4, ran["fixed-window"])
	require.Equal(t, 4, ran["sliding-counter"])
	require.Equal(t, 3, ran["gcra"])
	require.Equal(t, 2, ran["sliding-log"])

	odd := openMutant(t, func(p []int64) { p[0]-- })
	difference, n, err := bench.Parity(t.Context(), algorithm(t, "fixed-window"), limit(t, "10/1s"),
		[]*backend.Backend{backends[0], odd}, burst(noon, time.Millisecond, 12, "a"))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NotNil(t, difference)
	require.Equal(t, 0, difference.Index, "they differ in what remains from the start")
	require.Equal(t, [2]string{"memory:", "mutant:"}, difference.Stores)
	require.Contains(t, difference.String(), `fixed-window, event 1 (key "a", cost 1`)
}
