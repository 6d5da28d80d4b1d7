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
		clock := newSimClock(epoch)
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
			clock.us.Add(rapid.Int64Range(0, most).Draw(t, "gap"))
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

// A window all of which was given back has not begun: else its end would let a second full
// window follow at once.
func TestRefundedWindowBeginsAnew(t *testing.T) {
	onStores(t, first, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "3/1s", st)
		s.at(0, 1)
		_, err := s.limiter.Refund(context.Background(), "k", 1)
		require.NoError(t, err)
		s.decides("AAADDDDA", .9, .9, .9, .95, 1, 1, 1.899999, 1.9)
	})
}

// A refund keeps the layers alive that have nothing to give back.
func TestRefundKeepsEveryLayerAlive(t *testing.T) {
	clock := &simClock{}
	st := memory.New(&memory.Options{Clock: clock.Now})
	defer func() { require.NoError(t, st.Close()) }()
	a := weir.Layered(algorithms.FixedWindow(), weir.Layer{
		Algorithm: algorithms.SlidingCounter(), Limit: weir.Limit{Count: 10, Window: time.Hour},
	})
	l := newLimiter(t, a, "10/59m", st, nil)
	clock.us.Store(time.Hour.Microseconds() - 1) // the hour's last microsecond, the 59 minutes' second
	_, err := l.Take(context.Background(), "k", 10)
	require.NoError(t, err)
	clock.us.Store((117 * time.Minute).Microseconds())
	d, err := l.Refund(context.Background(), "k", 1)
	require.NoError(t, err)
	ttl, err := st.TTL(context.Background(), l.Keys("k")[0])
	require.NoError(t, err)
	require.GreaterOrEqual(t, ttl, d.ResetAfter)
}

// failing is a limiter whose backend does not answer.
type failing struct{ weir.Refunder }

func (failing) Take(context.Context, string, int64) (weir.Decision, error) {
	return weir.Decision{}, store.ErrClosed
}

func TestTakeAll(t *testing.T) {
	st := storetest.Memory(t)
	clock := newSimClock(epoch)
	of := func(limit string) *weir.Weir {
		return newLimiter(t, algorithms.FixedWindow(), limit, st, &weir.Options{Clock: clock.Now, Prefix: "p" + limit[:1]})
	}
	six, four := of("6/1h"), of("4/1h")
	ctx := context.Background()

	t.Run("tells what is left after a denial", func(t *testing.T) {
		_, err := four.Take(ctx, "b", 1)
		require.NoError(t, err)
		d, err := weir.TakeAll(ctx, weir.Charge{Limiter: six, Key: "a", Cost: 4}, weir.Charge{Limiter: four, Key: "b", Cost: 4})
		require.NoError(t, err)
		require.False(t, d.Allowed)
		require.EqualValues(t, 3, d.Remaining)
		require.EqualValues(t, 4, d.Limit)
		again, err := six.Peek(ctx, "a")
		require.NoError(t, err)
		require.EqualValues(t, 6, again.Remaining)
	})
	t.Run("gives back where a later limiter fails", func(t *testing.T) {
		_, err := weir.TakeAll(ctx, weir.Charge{Limiter: six, Key: "a", Cost: 2}, weir.Charge{Limiter: failing{four}, Key: "b", Cost: 1})
		require.ErrorIs(t, err, store.ErrClosed)
		d, err := six.Peek(ctx, "a")
		require.NoError(t, err)
		require.EqualValues(t, 6, d.Remaining)
	})
	t.Run("gives back where the caller has gone", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		_, err := weir.TakeAll(ctx, weir.Charge{Limiter: six, Key: "a", Cost: 2}, weir.Charge{Limiter: leaving{four, cancel}, Key: "b", Cost: 1})
		require.ErrorIs(t, err, context.Canceled)
		d, err := six.Peek(context.Background(), "a")
		require.NoError(t, err)
		require.EqualValues(t, 6, d.Remaining)
	})
	t.Run("of nothing admits", func(t *testing.T) {
		d, err := weir.TakeAll(ctx)
		require.NoError(t, err)
		require.Equal(t, weir.Decision{Allowed: true}, d)
	})
}

// leaving is a limiter whose caller goes before it is asked.
type leaving struct {
	weir.Refunder
	cancel context.CancelFunc
}

func (l leaving) Take(ctx context.Context, key string, n int64) (weir.Decision, error) {
	l.cancel()
	return l.Refunder.Take(ctx, key, n)
}
