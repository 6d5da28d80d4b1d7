package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// What the servers count is what the plans declare.
func TestCostOnRealServers(t *testing.T) {
	r := compare(t, precisionOnly(bench.Config{
		Algorithms: algorithms.All(), Backends: openReal(t), Limit: limit(t, "100/1h"), Scenarios: []bench.Scenario{},
	}))
	require.Empty(t, r.Incomplete)
	for _, res := range r.Results {
		if res.Unsupported != nil {
			require.Nil(t, res.Cost)
			continue
		}
		c := res.Cost
		if res.Store == "memory:" {
			require.Equal(t, &bench.Cost{NA: "no server"}, c)
			continue
		}
		require.Empty(t, c.NA)
		require.Positive(t, c.Decisions)
		require.InDelta(t, res.Trips, c.Trips, 1e-9, "%s on %s", res.Algorithm, res.Store)
		require.GreaterOrEqual(t, c.Commands, c.Trips)
		require.Greater(t, c.WireOut, c.Trips*40, "each request names the key")
		require.Positive(t, c.WireIn)
		require.Equal(t, res.Store == "redis:private", c.ServerUS > 0)
	}
}

// On a server that others use the same is found, unless they are at work.
func TestCostOnASharedServer(t *testing.T) {
	shared := open(t, "redis://"+servertest.Redis(t).Addr)
	require.True(t, shared.Shared)
	c := compare(t, precisionOnly(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra,burst=1")}, Backends: []*backend.Backend{shared}, Limit: limit(t, "1/1h"),
		Scenarios: []bench.Scenario{},
	})).Results[0].Cost
	require.Empty(t, c.NA)
	require.InDelta(t, 1, c.Trips, 1e-9)
}

func TestBoundaryPoints(t *testing.T) {
	for text, worst := range map[string]map[string]int64{
		"10/1s":   {"fixed-window": 20, "fixed-window-first-hit": 19, "sliding-counter": 19, "gcra": 19, "sliding-log": 10, "packed-log": 10},
		"2500/1m": {"fixed-window": 5000, "ring-log": 2500},
		"2/3650d": {"fixed-window": 4, "sliding-log": 2},
	} {
		var all []weir.Algorithm
		for name := range worst {
			all = append(all, algorithm(t, name))
		}
		l := limit(t, text)
		r := compare(t, precisionOnly(bench.Config{
			Algorithms: all, Backends: []*backend.Backend{open(t, "memory:")}, Limit: l, Scenarios: []bench.Scenario{},
		}))
		for name, most := range worst {
			points := find(t, r, name, "memory:").Boundary
			require.NotEmpty(t, points)
			require.LessOrEqual(t, len(points), 200)
			var asked, highest int64
			for i, p := range points {
				require.LessOrEqual(t, p.Admitted, p.Asked)
				require.True(t, i == 0 || p.AtUS > points[i-1].AtUS)
				asked += p.Asked
				highest = max(highest, p.InWindow)
				// All requests come at points, so that these add up.
				var inWindow int64
				for _, q := range points[:i+1] {
					if q.AtUS > p.AtUS-l.Window.Microseconds() {
						inWindow += q.Admitted
					}
				}
				require.Equal(t, inWindow, p.InWindow, "%s at %d us", name, p.AtUS)
			}
			require.EqualValues(t, 6*l.Count+1, asked, "three phases of two bursts, and an opener")
			require.Equal(t, most, highest, "%s %s", name, text)
		}
	}
}
