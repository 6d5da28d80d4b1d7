package bench_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/backend"
)

func growthOnly(c bench.Config, g bench.GrowthConfig) bench.Config {
	c = precisionOnly(c)
	c.Scenarios, c.Growth = []bench.Scenario{}, &g
	c.Keys, c.Repetitions, c.Interval = 200, 2, 20*time.Millisecond
	return c
}

func TestGrowthOnRealServers(t *testing.T) {
	r := compare(t, growthOnly(bench.Config{
		Algorithms: []weir.Algorithm{
			algorithm(t, "gcra"), algorithm(t, "sliding-log"), algorithm(t, "packed-log"),
		},
		Backends: openReal(t), Limit: limit(t, "10/1s"),
	}, bench.GrowthConfig{
		Events: []int64{1, 100, 1000}, Keys: []int64{10, 2000}, Callers: []int{1, 4}, Rates: []float64{500}, Stall: 3000,
	}))
	require.Empty(t, r.Incomplete)
	for _, res := range r.Results {
		if res.Unsupported == nil {
			t.Run(res.Algorithm+" on "+res.Store, func(t *testing.T) { requireGrowth(t, res) })
		}
	}
	var out bytes.Buffer
	require.NoError(t, r.Write(&out))
	back, err := bench.ReadResults(&out, "test")
	require.NoError(t, err)
	require.Equal(t, r.Results, back.Results)
}

func requireGrowth(t *testing.T, res bench.Result) {
	require.Empty(t, res.Throughput, "only what was asked for")
	require.Len(t, res.Growth.Events, 3)
	for i, p := range res.Growth.Events {
		require.Empty(t, p.NA)
		require.Equal(t, []int64{1, 100, 1000}[i], p.Events)
		require.Positive(t, p.BytesPerKey)
		require.Positive(t, p.DecisionUS)
		require.Equal(t, res.Store == "redis:private", p.ServerUS > 0)
	}
	first, last := res.Growth.Events[0].BytesPerKey, res.Growth.Events[2].BytesPerKey
	switch res.Algorithm {
	case "gcra":
		require.InDelta(t, first, last, 0)
	case "sliding-log":
		require.Greater(t, last, first+999*8-1000, "a time for each event")
	case "packed-log":
		require.Greater(t, last, first+500)
		require.Less(t, last, first+3000)
	}
	if res.Store == "memory:" {
		require.Len(t, res.Growth.Keys, 2)
		for i, p := range res.Growth.Keys {
			require.Empty(t, p.NA)
			require.Equal(t, []int64{10, 2000}[i], p.Keys)
			require.Positive(t, p.BytesPerKey)
			require.Positive(t, p.DecisionNS)
		}
	} else {
		require.Empty(t, res.Growth.Keys)
	}
	require.Len(t, res.Growth.Callers, 2)
	for i, p := range res.Growth.Callers {
		require.Empty(t, p.NA)
		require.Equal(t, []int{1, 4}[i], p.Callers)
		require.Positive(t, p.PerSecond)
		require.GreaterOrEqual(t, p.P99US, p.P50US)
	}
	require.Empty(t, res.Stall.NA)
	require.EqualValues(t, 3000, res.Stall.Events)
	require.Positive(t, res.Stall.LongestUS)
	require.Positive(t, res.Stall.IdleUS)
	require.Len(t, res.OpenLoop, 1)
	o := res.OpenLoop[0]
	require.Empty(t, o.NA)
	require.InDelta(t, 500, o.Rate, 0)
	require.Positive(t, o.Decisions)
	require.LessOrEqual(t, o.Decisions, int64(250), "half a second of it")
	require.LessOrEqual(t, o.Achieved, o.Rate)
	require.GreaterOrEqual(t, o.P99US, o.P50US)
	require.GreaterOrEqual(t, o.P999US, o.P99US)
	require.GreaterOrEqual(t, o.MaxUS, o.P999US)
}

// What takes too long, and what the store has no room for, is said and not left out.
func TestGrowthSaysWhatIsNotMeasured(t *testing.T) {
	g := bench.GrowthConfig{Events: []int64{1, 10}, Keys: []int64{1, 10}, Callers: []int{}, Rates: []float64{}, Stall: 10, PointTime: 1}
	c := growthOnly(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra")}, Backends: []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "10/1s"),
	}, g)
	r := compare(t, c)
	require.Empty(t, r.Incomplete)
	const na = "over 1e-09 s"
	require.Equal(t, &bench.Growth{
		Events: []bench.EventsPoint{{Events: 1, NA: na}, {Events: 10, NA: na}},
		Keys:   []bench.KeysPoint{{Keys: 1, NA: na}, {Keys: 10, NA: na}},
	}, r.Results[0].Growth)
	require.Equal(t, &bench.Stall{Events: 10, NA: na}, r.Results[0].Stall)

	g.PointTime = 0
	c.Growth = &g
	c.Backends = []*backend.Backend{openMutant(t, func(p []int64) { p[0] = 3 })}
	c.Algorithms = []weir.Algorithm{algorithm(t, "fixed-window")}
	r = compare(t, c)
	require.Empty(t, r.Results[0].Growth.Events[0].NA)
	require.Equal(t, bench.EventsPoint{Events: 10, NA: "3 of 4 requests were admitted"}, r.Results[0].Growth.Events[1])

	c.Backends = []*backend.Backend{open(t, "memcache:private")}
	c.Algorithms = []weir.Algorithm{algorithm(t, "packed-log,tick=1us")}
	c.Growth = &bench.GrowthConfig{Events: []int64{1, 1_000_000}, Keys: []int64{}, Callers: []int{}, Rates: []float64{}, Stall: -1}
	r = compare(t, c)
	require.Empty(t, r.Incomplete)
	if c.Backends[0].StandIn == "" {
		require.Empty(t, r.Results[0].Growth.Events[0].NA)
		require.Equal(t, "limit count 1250001 for 1250001/1s", r.Results[0].Growth.Events[1].NA)
	}
	require.Nil(t, r.Results[0].Stall)
}

func TestGrowthRefusesWhatMakesNoSense(t *testing.T) {
	for want, g := range map[string]bench.GrowthConfig{
		"bench: Config.Growth.Events: 0: want 1 to":       {Events: []int64{0}},
		"bench: Config.Growth.Events: 1: want 1 to":       {Events: []int64{1, 1}},
		"bench: Config.Growth.Keys: 20000000: want 1 to":  {Keys: []int64{20_000_000}},
		"bench: Config.Callers: 0: want 1 to":             {Callers: []int{0}},
		"bench: Config.Growth.Rates: 0: want 1 to":        {Rates: []float64{0}},
		"bench: Config.Growth.Stall: 2000000: want up to": {Stall: 2_000_000},
		"bench: Config.Growth.PointTime: -1ns: want":      {PointTime: -1},
	} {
		_, err := bench.Compare(t.Context(), growthOnly(bench.Config{
			Algorithms: []weir.Algorithm{algorithm(t, "gcra")}, Backends: []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "10/1s"),
		}, g), nil)
		require.ErrorContains(t, err, want)
	}
}

// Whoever keeps a checkpoint has what was measured until then, and is told what is missing.
func TestCheckpoints(t *testing.T) {
	c := precisionOnly(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra"), algorithm(t, "ring-log")}, Backends: []*backend.Backend{open(t, "memory:")},
		Limit: limit(t, "10/1s"), Scenarios: bench.Scenarios(limit(t, "10/1s"), 1)[:2],
	})
	c.Callers, c.Keys, c.Repetitions, c.Interval = []int{1}, 20, 1, 5*time.Millisecond
	var kept []*bench.Results
	c.Checkpoint = func(soFar func() *bench.Results) {
		var b bytes.Buffer
		require.NoError(t, soFar().Write(&b))
		r, err := bench.ReadResults(&b, "checkpoint")
		require.NoError(t, err)
		kept = append(kept, r)
	}
	final := compare(t, c)
	const pieces = 2 * (2 + 2 + 1 + 1)
	require.Len(t, kept, pieces-1)
	for i, r := range kept {
		require.Contains(t, r.Incomplete, fmt.Sprintf("of %d measurements %d are here, and those from ", pieces, i+1))
		require.Len(t, r.Results, 2)
	}
	require.Contains(t, kept[2].Incomplete, "ring-log on memory:: steady-0.8x on are missing")
	require.Len(t, kept[2].Results[0].Precision, 2)
	require.Len(t, kept[2].Results[1].Precision, 1)
	require.Equal(t, final.Results[0].Precision, kept[2].Results[0].Precision)
	require.Equal(t, final.Results[0].Throughput, kept[pieces-2].Results[0].Throughput)
	require.Empty(t, kept[pieces-2].Results[1].Throughput)
	require.Empty(t, final.Incomplete)
}
