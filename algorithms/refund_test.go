package algorithms_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// What is taken and given back at once leaves no trace in what remains.
func TestRefundUndoesATake(t *testing.T) {
	onStores(t, append(all, burst(3)...), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/1s", st)
		s.at(0, 1)
		before := s.at(.3, 0).Remaining
		require.Equal(t, before-2, s.at(.3, 2).Remaining)
		d, err := s.limiter.Refund(context.Background(), "k", 2)
		require.NoError(t, err)
		require.True(t, d.Allowed)
		require.Equal(t, before, d.Remaining)
		require.Equal(t, before, s.at(.3, 0).Remaining)

		d, err = s.limiter.Refund(context.Background(), "k", 1000) // more than there is
		require.NoError(t, err)
		require.Equal(t, s.limiter.Capacity(), d.Remaining)
		d, err = s.limiter.Refund(context.Background(), "never seen", 5)
		require.NoError(t, err)
		require.Equal(t, s.limiter.Capacity(), d.Remaining)
		_, err = s.limiter.Refund(context.Background(), "k", -1)
		require.ErrorContains(t, err, "refund")
	})
}

// The exact logs take back the same requests: the newest.
func TestRefundsTakeTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := weir.Limit{Count: rapid.Int64Range(1, 3000).Draw(t, "limit"), Window: time.Second}
		clock := &simClock{us: epoch}
		st := memory.New(&memory.Options{Clock: clock.Now})
		defer func() { require.NoError(t, st.Close()) }()
		var limiters []*weir.Weir
		for _, a := range []weir.Algorithm{
			algorithms.SlidingLog(), algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond}),
		} {
			limiter, err := weir.New(a, l, st, nil)
			require.NoError(t, err)
			limiters = append(limiters, limiter)
		}
		most := 2 * l.Window.Microseconds() / l.Count
		for range rapid.IntRange(1, 2000).Draw(t, "events") {
			clock.us += rapid.Int64Range(0, most).Draw(t, "gap")
			n := rapid.Int64Range(0, min(l.Count, 3)).Draw(t, "cost")
			take := (*weir.Weir).Take
			if rapid.IntRange(0, 9).Draw(t, "refund") == 0 {
				take, n = (*weir.Weir).Refund, rapid.Int64Range(0, l.Count).Draw(t, "given back")
			}
			want, err := take(limiters[0], context.Background(), "k", n)
			require.NoError(t, err)
			got, err := take(limiters[1], context.Background(), "k", n)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

// RL-121: limits on different keys charge nothing where one of them denies.
func TestRL121DeniedChargesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st store.Store) {
		prefix := storetest.Prefix(t)
		user := newLimiter(t, algorithms.FixedWindow(), "4/1h", st, &weir.Options{Prefix: prefix + "user"})
		tag := newLimiter(t, algorithms.FixedWindow(), "4/1h", st, &weir.Options{Prefix: prefix + "tag"})
		take := func(u, g string) string {
			d, err := weir.TakeAll(context.Background(),
				weir.Charge{Limiter: user, Key: u, Cost: 1}, weir.Charge{Limiter: tag, Key: g, Cost: 1})
			require.NoError(t, err)
			require.Equal(t, d.Allowed, d.RetryAfter == 0)
			return letter(d)
		}
		got := ""
		for range 5 {
			got += take("user1", "CH")
		}
		for range 2 {
			got += take("user2", "CH")
		}
		for range 5 {
			got += take("user2", "TC")
		}
		require.Equal(t, "AAAAD"+"DD"+"AAAAD", got)
	})
}
