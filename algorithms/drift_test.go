package algorithms_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
)

// Over simulated years a client that always comes at the instant it was told, now and
// then after a pause of days, is decided as by exact rational arithmetic: rates that do
// not divide their window neither drift nor overflow, in Go and in Lua.
func TestNothingDrifts(t *testing.T) {
	for _, side := range []struct {
		name   string
		open   func(testing.TB) store.Store
		events int
	}{{"go", storetest.Memory, 1500}, {"lua", storetest.Redis, 300}} {
		t.Run(side.name, func(t *testing.T) {
			st := side.open(t)
			for _, limit := range []string{"7/1s", "1/24h", "1000000/1h", "65535/1s", "2000/1s", "1000000/30d"} {
				l, err := weir.ParseLimit(limit)
				require.NoError(t, err)
				for _, a := range append(defined, algorithms.GCRA(&algorithms.GCRAOptions{Burst: 1})) {
					if a.Name() == "packed-log" {
						a = algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond})
					}
					random := rand.New(rand.NewPCG(1, uint64(l.Count)))
					clock := newSimClock(epoch)
					limiter, err := weir.New(a, l, st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
					require.NoError(t, err)
					reference := model(t, a, l)
					most := limiter.Capacity()
					if limiter.Plan().MaxCost > 0 {
						most = min(most, limiter.Plan().MaxCost)
					}
					for i := range side.events {
						n := int64(1)
						if i%5 == 0 {
							n = 1 + random.Int64N(most)
						}
						want := reference.Take(clock.us.Load(), n)
						d, err := limiter.Take(context.Background(), "k", n)
						require.NoError(t, err)
						if want != verdict(d) {
							require.Equal(t, want, verdict(d), "%s %s, event %d, cost %d", a, limit, i, n)
						}
						clock.us.Add(want.RetryAfter)
						if i%50 == 49 {
							clock.us.Add(random.Int64N(60 * 86400 * 1_000_000))
						}
					}
					require.Greater(t, clock.us.Load()-epoch, int64(side.events/100)*86400*1_000_000, "simulated time")
					require.NoError(t, limiter.Reset(context.Background(), "k"))
				}
			}
		})
	}
}
