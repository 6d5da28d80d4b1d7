package choose_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/choose"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// TestEstimatesAgreeWithServers measures anew, under another limit than the one that the model was made from, at
// numbers of requests that were not measured then, and with options that nobody measured.
func TestEstimatesAgreeWithServers(t *testing.T) {
	t.Parallel()
	servertest.Redis(t) // skips or fails where the programs are missing, so that no stand-in is taken
	servertest.Memcached(t)
	limit := limits(t, "700/1h")[0]
	var all []weir.Algorithm
	for _, name := range []string{
		"sliding-log", "ring-log", "packed-log,tick=1us", "packed-log,tick=1us,error=5%",
	} {
		a, err := algorithms.Parse(name)
		require.NoError(t, err)
		all = append(all, a)
	}
	cage := weir.Layered(algorithms.FixedWindow(), weir.Layer{Algorithm: algorithms.FixedWindow(), Limit: limits(t, "35/1m")[0]})
	all = append(all, cage)
	for _, url := range []string{"redis:private", "memcache:private"} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			on, err := backend.Open(t.Context(), url, nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, on.Close()) })
			res, err := bench.Compare(t.Context(), bench.Config{
				Algorithms: all, Backends: []*backend.Backend{on}, Limit: limit,
				Scenarios: []bench.Scenario{}, Events: []int64{30, 300}, Callers: []int{},
			}, nil)
			require.NoError(t, err)
			require.Empty(t, res.Incomplete)
			points := 0
			for i, r := range res.Results {
				for _, m := range r.Memory {
					require.Empty(t, m.NA)
					points++
					near := math.Inf(1)
					for _, n := range []int{19, 20} { // bytes of a run's prefix
						estimate, _, err := choose.Estimate(on.Store.Traits(), all[i], choose.Want{Limits: []weir.Limit{limit}}, m.Events, strings.Repeat("p", n))
						require.NoError(t, err)
						t.Logf("%s, %d requests: estimated %.0f, measured %.0f", r.Algorithm, m.Events, estimate, m.BytesPerKey)
						near = min(near, math.Abs(estimate/m.BytesPerKey-1))
					}
					require.LessOrEqual(t, near, 0.10, "%s after %d requests", r.Algorithm, m.Events)
				}
			}
			require.Greater(t, points, 5)
		})
	}
}
