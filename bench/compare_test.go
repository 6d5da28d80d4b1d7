package bench_test

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// quick measures everything, a little.
func quick(c bench.Config) bench.Config {
	c.Events, c.Callers = []int64{1, 100}, []int{1, 8}
	c.Keys, c.Repetitions, c.Interval = 50, 2, 20*time.Millisecond
	return c
}

// Everything that can run decides on real servers as in this process, and every decision reaches them.
func TestPrecisionOnRealServers(t *testing.T) {
	generated := bench.Scenarios(limit(t, "10/1s"), 9)
	r := compare(t, precisionOnly(bench.Config{
		Algorithms: algorithms.All(), Backends: openReal(t), Limit: limit(t, "10/1s"),
		Scenarios: []bench.Scenario{generated[0], generated[4]}, // the boundary burst, and on and off
		Trace:     &trace.Trace{Name: "t.csv", Format: "csv", Events: burst(noon, time.Millisecond, 30, "client"), Keys: 1},
	}))
	require.Empty(t, r.Incomplete)
	require.Equal(t, 30, r.Trace.Events)
	var cannot []string
	ran := 0
	for _, res := range r.Results {
		if res.Unsupported != nil {
			cannot = append(cannot, res.Algorithm+" on "+res.Store)
			require.Nil(t, res.Guarantee)
			require.Empty(t, res.Plan)
			continue
		}
		ran++
		require.Len(t, res.Precision, 3)
		require.EqualValues(t, 30, res.Precision["trace"].Events)
		for scenario, p := range res.Precision {
			if res.Store != "memory:" {
				require.Positive(t, p.ServerCalls)
				require.Equal(t, p.DeclaredCalls, p.ServerCalls, "%s on %s, %s", res.Algorithm, res.Store, scenario)
			}
			p.ServerCalls, p.DeclaredCalls = 0, 0
			require.Equal(t, find(t, r, res.Algorithm, "memory:").Precision[scenario], p, "%s on %s, %s", res.Algorithm, res.Store, scenario)
		}
	}
	require.Equal(t, []string{"sliding-log on memcache:private", "ring-log on memcache:private"}, cannot)
	require.Equal(t, 3*len(algorithms.All())-2, ran)
	require.Len(t, r.Results, 3*len(algorithms.All()))
}

func TestMetersOnRealServers(t *testing.T) {
	var told []string
	r, err := bench.Compare(t.Context(), quick(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra"), algorithm(t, "sliding-log")}, Backends: openReal(t),
		Limit: limit(t, "10/1s"), Clients: 1000, Scenarios: []bench.Scenario{},
	}), func(what string, done, total int) {
		require.Equal(t, len(told), done)
		require.Equal(t, 5*(2+2+1+2*2), total, "two numbers of events, boundary and cost, a warm-up, two repetitions of two levels")
		told = append(told, what)
	})
	require.NoError(t, err)
	require.Empty(t, r.Incomplete)
	require.Len(t, told, 5*(2+2+1+2*2))
	require.Equal(t, []string{
		"gcra on memory:: memory after 1 events", "sliding-log on memory:: memory after 1 events", "gcra on redis:private: memory after 1 events",
	}, told[:3])
	for _, res := range r.Results {
		if res.Unsupported == nil {
			t.Run(res.Algorithm+" on "+res.Store, func(t *testing.T) { requireMeters(t, res) })
		}
	}

	var out bytes.Buffer
	require.NoError(t, r.Write(&out))
	back, err := bench.ReadResults(&out, "test")
	require.NoError(t, err)
	require.Equal(t, r.Results, back.Results)
}

func requireMeters(t *testing.T, res bench.Result) {
	require.Len(t, res.Memory, 2)
	for i, m := range res.Memory {
		require.Empty(t, m.NA)
		require.Equal(t, []int64{1, 100}[i], m.Events)
		require.Positive(t, m.KeyBytes)
		require.InEpsilon(t, m.KeyBytes, m.BytesPerKey, 0.8, "growth %v and the key's own figure %v", m.BytesPerKey, m.KeyBytes)
		require.InDelta(t, m.BytesPerKey*1000, m.Total, 1e-6)
		require.Positive(t, m.Keys)
	}
	if res.Algorithm == "gcra" {
		require.Equal(t, res.Memory[0].KeyBytes, res.Memory[1].KeyBytes, "one time, however many events")
	} else {
		require.Greater(t, res.Memory[1].BytesPerKey, res.Memory[0].BytesPerKey+99*8, "a time for each event")
	}

	require.Len(t, res.Throughput, 2)
	for i, h := range res.Throughput {
		require.Empty(t, h.NA)
		require.Equal(t, []int{1, 8}[i], h.Callers)
		require.Positive(t, h.PerSecond)
		require.GreaterOrEqual(t, h.Decisions, int64(h.Keys))
		require.Positive(t, h.Keys)
		require.LessOrEqual(t, h.Keys, 50)
		require.Positive(t, h.P50US)
		require.GreaterOrEqual(t, h.P99US, h.P50US)
		require.GreaterOrEqual(t, h.P999US, h.P99US)
	}
}

// Keys come in turn, so that the distinct ones are as many as the requests until all were touched, and no
// caller is denied even where there is no burst.
func TestClosedLoopTouchesEveryKey(t *testing.T) {
	c := quick(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra,burst=1")}, Backends: []*backend.Backend{open(t, "memory:")},
		Limit: limit(t, "10/1s"), Scenarios: []bench.Scenario{},
	})
	c.Events = []int64{}
	levels := compare(t, c).Results[0].Throughput
	require.Len(t, levels, 2)
	for _, h := range levels {
		require.Empty(t, h.NA)
		require.Positive(t, h.Keys)
	}
	require.EqualValues(t, min(50, levels[0].Decisions), levels[0].Keys)
}

func TestEnvironment(t *testing.T) {
	r := compare(t, precisionOnly(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra")}, Backends: []*backend.Backend{open(t, "memory:")},
		Limit: limit(t, "10/1s"), Seed: 77, Flags: []string{"--seed", "77"},
	}))
	e := r.Environment
	require.Equal(t, runtime.Version(), e.Go)
	require.Equal(t, runtime.NumCPU(), e.CPUs)
	require.EqualValues(t, 77, e.Seed)
	require.Equal(t, []string{"--seed", "77"}, e.Flags)
	require.NotEmpty(t, e.Weir)
	require.False(t, e.Started.IsZero())
	require.Equal(t, []bench.ServerInfo{{Store: "memory:", Server: "this process (" + runtime.Version() + ")", Class: "ZSET + scripting"}}, e.Servers)
	require.Equal(t, bench.LimitInfo{Text: "10/1s", Count: 10, WindowUS: 1_000_000}, r.Limit)
}

func TestStandInsHaveNoFigures(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, url := range []string{"redis:private", "memcache:private"} {
		b := open(t, url)
		require.NotEmpty(t, b.StandIn)
		res := compare(t, quick(bench.Config{
			Algorithms: []weir.Algorithm{algorithm(t, "gcra")}, Backends: []*backend.Backend{b}, Limit: limit(t, "10/1s"),
			Scenarios: bench.Scenarios(limit(t, "10/1s"), 1)[:1],
		})).Results[0]
		require.EqualValues(t, 19, res.Precision["boundary-burst"].MaxInWindow)
		require.Zero(t, res.Precision["boundary-burst"].ServerCalls)
		require.Equal(t, []bench.Memory{{Events: 1, NA: bench.StandIn}, {Events: 100, NA: bench.StandIn}}, res.Memory)
		require.Equal(t, []bench.Throughput{{Callers: 1, NA: bench.StandIn}, {Callers: 8, NA: bench.StandIn}}, res.Throughput)
	}
}

// A measurement in which requests were denied is void.
func TestDeniedRequestsVoidAMeasurement(t *testing.T) {
	res := compare(t, quick(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "fixed-window")}, Limit: limit(t, "10/1h"),
		Backends: []*backend.Backend{openMutant(t, func(p []int64) { p[0] = 3 })},
	})).Results[0]
	require.Empty(t, res.Memory[0].NA)
	require.Equal(t, "3 of 100 requests were admitted", res.Memory[1].NA)
	for _, h := range res.Throughput {
		require.Contains(t, h.NA, "requests were denied")
		require.Zero(t, h.PerSecond)
	}
}

func TestInterruptKeepsWhatIsDone(t *testing.T) {
	c := precisionOnly(bench.Config{
		Algorithms: algorithms.All(), Backends: []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "10/1s"),
	})
	n := len(c.Algorithms)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := bench.Compare(ctx, c, cancelAt(cancel, n+2))
	require.NoError(t, err)
	require.Equal(t, "context canceled during "+c.Algorithms[2].String()+" on memory:: steady-0.8x", r.Incomplete)
	require.Len(t, r.Results, n)
	for i, res := range r.Results {
		require.Empty(t, res.Error)
		scenarios := 1
		if i < 2 {
			scenarios = 2
		}
		require.Len(t, res.Precision, scenarios, res.Algorithm)
	}
}

// A server that dies takes its own pairs along, and no others.
func TestServerDies(t *testing.T) {
	server := servertest.Redis(t)
	shared, err := backend.Open(t.Context(), "redis://"+server.Addr, nil)
	require.NoError(t, err)
	defer shared.Close() // whose cleanup must fail
	r, err := bench.Compare(t.Context(), quick(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra"), algorithm(t, "ring-log")},
		Backends:   []*backend.Backend{shared, open(t, "memory:")}, Limit: limit(t, "10/1s"),
	}), func(what string, _, _ int) {
		if strings.HasPrefix(what, "gcra on redis") && strings.HasSuffix(what, "steady-1x") {
			require.NoError(t, server.Kill())
		}
	})
	require.NoError(t, err)
	require.Contains(t, r.Incomplete, "2 of 4 pairs failed, the first: gcra on redis://"+server.Addr)
	require.NotContains(t, r.Incomplete, "\n")
	for _, res := range r.Results {
		if res.Store == "memory:" {
			require.Empty(t, res.Error)
			require.Len(t, res.Precision, len(bench.Scenarios(limit(t, "10/1s"), 1)))
			require.Len(t, res.Throughput, 2)
			continue
		}
		require.Contains(t, res.Error, "steady-1x: ")
		require.Len(t, res.Precision, 2, "what finished is kept")
		require.Len(t, res.Memory, 2)
		for _, m := range res.Memory {
			require.True(t, m.Shared)
			require.EqualValues(t, m.KeyBytes, m.BytesPerKey, "of single keys")
		}
	}
}

func TestCompareRefusesWhatMakesNoSense(t *testing.T) {
	good := bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra")}, Backends: []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "10/1s"),
	}
	for want, spoil := range map[string]func(*bench.Config){
		"bench: Algorithms: none: want at least one":    func(c *bench.Config) { c.Algorithms = nil },
		"bench: Backends: none: want at least one":      func(c *bench.Config) { c.Backends = nil },
		"weir: limit window":                            func(c *bench.Config) { c.Limit.Window = 0 },
		"bench: Config.Events: 0: want 1 to":            func(c *bench.Config) { c.Events = []int64{0} },
		"bench: Config.Callers: 0: want 1 to":           func(c *bench.Config) { c.Callers = []int{0} },
		"bench: Config.Keys: -1: want 1 or more":        func(c *bench.Config) { c.Keys = -1 },
		"bench: Config.Repetitions: -1: want 1 or more": func(c *bench.Config) { c.Repetitions = -1 },
		"bench: Config.Interval: -1ns: want above 0":    func(c *bench.Config) { c.Interval = -1 },
		"bench: Config.Clients: -1: want 0 or more":     func(c *bench.Config) { c.Clients = -1 },
		"bench: gcra,burst=1000000000: weir: burst: 1000000000: want": func(c *bench.Config) {
			c.Algorithms, c.Limit = []weir.Algorithm{algorithm(t, "gcra,burst=1000000000")}, limit(t, "1/1d")
		},
	} {
		c := good
		spoil(&c)
		_, err := bench.Compare(t.Context(), c, nil)
		require.ErrorContains(t, err, want)
	}
}

func TestKeysThatNoStoreKeepsAreUnsupported(t *testing.T) {
	b := openMutant(t, nil)
	short := &backend.Backend{Store: shortLived{b.Store}, Name: "short:", Kind: backend.KindMemory}
	res := compare(t, precisionOnly(bench.Config{
		Algorithms: algorithms.All(), Backends: []*backend.Backend{short}, Limit: limit(t, "10/2h"),
	})).Results
	i := slices.IndexFunc(res, func(r bench.Result) bool { return r.Algorithm == "fixed-window" })
	require.Len(t, res[i].Unsupported, 1)
	require.Contains(t, res[i].Unsupported[0], "keys that live for 2h")
}
