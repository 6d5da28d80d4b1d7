package algorithms_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
)

// Faults that were reported of the edges of time, rate and cost.

// RL-016: what is asked again and again does not live for ever. Two each 10 s, asked each 6 s, are never too many;
// the weighted counter alone estimates more, and says so in its deficit.
func TestRL016SteadyTrafficIsNoLifetimeCap(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "2/10s", st)
		admitted := 0
		for _, at := range repeat(0, 6, 20) {
			if s.at(at, 1).Allowed {
				admitted++
			}
		}
		if a.Name() == "sliding-counter" {
			require.GreaterOrEqual(t, admitted, 10)
			return
		}
		require.Equal(t, 20, admitted)
	})
}

// RL-051: two requests a microsecond apart stay two, at the window's edge too. Scores are microseconds: no
// finer time is told apart, and none is rounded.
func TestRL051NeighboursStayApart(t *testing.T) {
	exact := append(exact, algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond}))
	onStores(t, exact, func(t *testing.T, a weir.Algorithm, st store.Store) {
		for _, now := range []int64{0, epoch, time.Date(2199, 12, 31, 0, 0, 0, 0, time.UTC).UnixMicro()} {
			s := simulate(t, a, "2/10s", st)
			require.NoError(t, s.limiter.Reset(context.Background(), "k"))
			got := ""
			for _, after := range []int64{0, 1, 2, 9_999_999, 10_000_000, 10_000_000, 10_000_001, 10_000_001} {
				s.clock.us.Store(now + after)
				d, err := s.limiter.Take(context.Background(), "k", 1)
				require.NoError(t, err)
				got += letter(d)
			}
			require.Equal(t, "AADDADAD", got, now)
		}
	})
}

// RL-057: no rate and no window is taken for another unit: what can be kept works, and the rest is refused by name.
func TestRL057UnitsAreKept(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		for limit, emission := range map[string]time.Duration{
			"120/1s": 8334 * time.Microsecond, "1000000000/1s": time.Microsecond, "1/24h": 24 * time.Hour,
		} {
			l, err := weir.ParseLimit(limit)
			require.NoError(t, err)
			s := simulate(t, a, limit, st)
			d := s.at(0, 1)
			require.True(t, d.Allowed, limit)
			require.Equal(t, l.Count-1, d.Remaining, limit)
			require.Positive(t, d.ResetAfter, limit)
			require.LessOrEqual(t, d.ResetAfter, 2*l.Window+time.Second, limit)
			if a.Name() == "gcra" {
				require.Equal(t, emission, d.ResetAfter, limit)
			}
			require.NoError(t, s.limiter.Reset(context.Background(), "k"))
		}
	})
	for _, a := range all {
		_, err := weir.New(a, weir.Limit{Count: 1<<31 + 1, Window: time.Second}, storetest.Memory(t), nil)
		var field *weir.FieldError
		require.ErrorAs(t, err, &field)
		require.Equal(t, "limit count", field.Field)
	}
}

// RL-064: by the store's own time there is one clock, whatever the callers' say.
func TestRL064OneClockForAllCallers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st store.Store) {
		if st.Traits().Clock != store.ServerClock {
			return // there each process brings its own: see the case's other test
		}
		for _, a := range exact {
			one := newLimiter(t, a, "10/1h", st, &weir.Options{Prefix: storetest.Prefix(t)})
			two := newLimiter(t, a, "10/1h", st, &weir.Options{Prefix: storetest.Prefix(t)})
			admitted := 0
			for i := range 20 {
				d, err := []*weir.Weir{one, two}[i%2].Take(context.Background(), "k", 1)
				require.NoError(t, err)
				if d.Allowed {
					admitted++
				}
			}
			require.Equal(t, 10, admitted, a)
		}
	})
}

// RL-065: callers whose clock is set back find the later time, and no more than the bound's share. Where the
// one clock is the store's, its own tests set that back.
func TestRL065ASteppedBackClockAdmitsNoMore(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "5/1s", st)
		require.Equal(t, 5, s.admitted(3600, 10))
		admitted := 0
		for _, at := range repeat(0, .15, 20) {
			if s.at(at, 1).Allowed {
				admitted++
			}
		}
		shape, err := a.Shape(s.limiter.Limit())
		require.NoError(t, err)
		require.LessOrEqual(t, admitted, 3*int(shape.Guarantee.MaxInWindow))
		require.True(t, s.at(3602, 1).Allowed, "free again two windows after the latest time")
	})
}

// RL-081: no cost below zero gives anything back, zero changes nothing, and the largest is denied.
func TestRL081CostsThatAreNoCosts(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "5/1m", st)
		for _, n := range []int64{-1, math.MinInt64} {
			_, err := s.limiter.Take(context.Background(), "k", n)
			var field *weir.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, "cost", field.Field)
		}
		require.Equal(t, weir.Decision{Limit: 5, Remaining: 5, RetryAfter: weir.Never}, s.at(0, math.MaxInt64))
		require.Equal(t, weir.Decision{Limit: 5, Remaining: 5, Allowed: true}, s.at(0, 0))
		storetest.NoKeys(t, st, s.limiter.Keys("k"))
		s.decides("AAAAAD", repeat(1, 0, 6)...)
		before := s.at(1, 0)
		require.Zero(t, before.Remaining)
		require.Equal(t, before, s.at(1, 0))
		_, err := s.limiter.Take(context.Background(), "k", -5)
		require.Error(t, err)
		require.Equal(t, before, s.at(1, 0))
	})
}
