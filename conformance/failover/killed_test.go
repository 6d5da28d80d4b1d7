package failover_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
)

// A master dies under load when its replica has all that it wrote: nothing is admitted beyond the limit then or
// later, its keys' callers get errors until the replica has taken over, and other masters' callers notice nothing.
func TestNothingBeyondTheLimitWhereAllWasReplicated(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *together) {
		st := s.open(t)
		all := s.targets(t, st, weir.Limit{Count: 5, Window: ages}, 24)
		each(all, func(g *target) {
			for {
				d, err := g.take(t.Context(), 1)
				if err != nil {
					t.Errorf("%v: %v", g, err)
				}
				if err != nil || !d.Allowed {
					return
				}
			}
		})
		for _, g := range all {
			require.Equal(t, g.limiter.Capacity(), g.admitted.Load(), "%v before anything happens", g)
		}
		s.replicated(t)

		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		traffic := start(ctx, t, all)
		guards := startGuards(ctx, t, all)
		recovered(t, all, time.Now())
		require.Zero(t, traffic.failed.Load())

		require.NoError(t, s.masters[0].Kill())
		killed := time.Now()
		recovered(t, all, killed)
		t.Logf("%d errors in the %v until every key had a decision again", traffic.failed.Load(), time.Since(killed).Round(time.Millisecond))
		guards.recovered(t)
		stop()
		traffic.group.Wait()
		guards.group.Wait()

		require.Positive(t, traffic.failed.Load(), "errors of the keys that the dead master had")
		require.Zero(t, traffic.spared.Load(), "errors of the others'")
		for _, g := range all {
			require.Equal(t, g.limiter.Capacity(), g.admitted.Load(), "%v", g)
		}
		guards.check(t)
		require.Equal(t, "master", replication(t, s.heirs[0])["role"])
		errs, err := client(t, s.heirs[0]).Info(t.Context(), "errorstats").Result()
		require.NoError(t, err)
		require.Contains(t, errs, "errorstat_NOSCRIPT:", "the new master knew no script")
	})
}

// What a master had admitted and its replica never heard of is admitted once more, and not one request beyond it.
func TestTheExcessIsWhatWasNotReplicated(t *testing.T) {
	t.Parallel()
	const limit, first, lost = 20, 8, 7
	onBoth(t, func(t *testing.T, s *together) {
		st := s.open(t)
		all := s.targets(t, st, weir.Limit{Count: limit, Window: ages}, 12)
		take := func(n int) {
			each(all, func(g *target) {
				for range n {
					if d, err := g.take(t.Context(), 1); err != nil || !d.Allowed {
						t.Errorf("%v: %+v, %v", g, d, err)
					}
				}
			})
		}
		take(first)
		s.replicated(t)

		// The replica is frozen and its connection closed, so that not even the kernel keeps what is meant for it.
		require.NoError(t, s.heirs[0].Pause())
		n, err := client(t, s.masters[0]).ClientKillByFilter(t.Context(), "type", "replica").Result()
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		take(lost)
		require.NoError(t, s.masters[0].Kill())
		require.NoError(t, s.heirs[0].Resume())

		each(all, func(g *target) {
			d, err := g.take(t.Context(), 1)
			for end := time.Now().Add(recovery); err != nil && time.Now().Before(end); d, err = g.take(t.Context(), 1) {
				time.Sleep(pace)
			}
			left := int64(limit - first - lost - 1)
			if g.struck {
				left += lost
			}
			if err != nil || d.Remaining != left {
				t.Errorf("%v: the first decision after it: %+v, %v: want %d remaining", g, d, err, left)
			}
			for err == nil && d.Allowed {
				d, err = g.take(t.Context(), 1)
			}
			if err != nil {
				t.Errorf("%v: %v", g, err)
			}
		})
		for _, g := range all {
			want := int64(limit)
			if g.struck {
				want += lost
			}
			require.Equal(t, want, g.admitted.Load(), "%v, struck: %v", g, g.struck)
		}
	})
}
