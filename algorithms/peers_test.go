package algorithms_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// Situations in which other limiters were seen to decide wrongly.

// admitted counts how many of so many requests of cost 1 at one time are admitted.
func (s *simulation) admitted(seconds float64, requests int) int {
	n := 0
	for range requests {
		if s.at(seconds, 1).Allowed {
			n++
		}
	}
	return n
}

// together counts how many of so many callers at once are admitted.
func together(t *testing.T, l weir.Limiter, key string, callers int) int {
	var admitted atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if d, err := l.Take(context.Background(), key, 1); err != nil {
				t.Error(err)
			} else if d.Allowed {
				admitted.Add(1)
			}
		})
	}
	group.Wait()
	return int(admitted.Load())
}

func TestSituations(t *testing.T) {
	t.Run("a full month carries over into the next without overflow", func(t *testing.T) {
		onStores(t, count, func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "5000/30d", st)
			const month = 30 * 86400
			boundary := float64(month - epoch/1_000_000%month)
			for range 5 {
				require.True(t, s.at(boundary-1, 1000).Allowed)
			}
			require.Zero(t, s.admitted(boundary+1, 5))
		})
	})

	t.Run("many callers share one fresh key", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			clock := newSimClock(epoch)
			l := newLimiter(t, a, "10/1h", st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
			for _, key := range []string{"fresh", "as fresh"} {
				n := together(t, l, key, 32)
				require.LessOrEqual(t, n, 10)
				if !l.Plan().Spurious {
					require.Equal(t, 10, n)
				}
			}
		})
	})

	t.Run("twice the rate gets the rate each second", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "10/1s", st)
			for second := range 3 {
				n := 0
				for i := range 20 {
					n += s.admitted(float64(second)+float64(i)/20, 1)
				}
				if second > 0 {
					require.InDelta(t, 10, n, 1, "in second %d", second)
				}
			}
		})
	})

	t.Run("a burst of two seconds is not forgotten after one", func(t *testing.T) {
		onStores(t, burst(2000), func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "1000/1s", st)
			require.True(t, s.at(0, 1999).Allowed)
			require.False(t, s.at(1.05, 2000).Allowed)
			require.EqualValues(t, 1051, s.at(1.05, 0).Remaining)
		})
	})

	t.Run("a peek among takers consumes nothing", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			clock := newSimClock(epoch)
			l := newLimiter(t, a, "20/1h", st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
			var group sync.WaitGroup
			for i := range 20 {
				group.Go(func() {
					if _, err := l.Take(context.Background(), "k", int64(i%2)); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			d, err := l.Peek(context.Background(), "k")
			require.NoError(t, err)
			require.EqualValues(t, 10, d.Remaining)
		})
	})

	t.Run("a window of a millisecond ends", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			simulate(t, a, "1/1ms", st).decides("ADAA", 0, .0005, .003, .006)
		})
	})

	t.Run("a clock that stands still admits the limit", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			for limit, want := range map[string]int{"6/1s": 6, "10/1s": 10, "20/1s": 20} {
				s := simulate(t, a, limit, st)
				require.NoError(t, s.limiter.Reset(context.Background(), "k"))
				require.Equal(t, want, s.admitted(0, want+2), limit)
				require.NoError(t, s.limiter.Reset(context.Background(), "k"))
			}
		})
	})

	t.Run("more than the limit is never admitted and says so", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "10/1s", st)
			require.Equal(t, weir.Decision{Limit: 10, Remaining: 10, RetryAfter: weir.Never}, s.at(0, 15))
		})
	})

	t.Run("the one clock five minutes back locks out for a window at most", func(t *testing.T) {
		for _, a := range all {
			clock := newSimClock(epoch + 30e6)
			st := memory.New(&memory.Options{Clock: clock.Now})
			l := newLimiter(t, a, "10/1m", st, nil)
			take := func() weir.Decision {
				d, err := l.Take(context.Background(), "k", 1)
				require.NoError(t, err)
				return d
			}
			for range 10 {
				take()
			}
			clock.us.Add(-300e6)
			d := take()
			shape, err := a.Shape(l.Limit())
			require.NoError(t, err)
			longest := time.Minute + shape.Guarantee.DeficitFor
			if a.Name() == "sliding-counter" {
				longest = 2 * time.Minute // in whose second half the weight declines
			}
			require.LessOrEqual(t, d.RetryAfter, longest, a)
			clock.us.Add(d.RetryAfter.Microseconds())
			require.True(t, take().Allowed, a)
			require.NoError(t, st.Close())
		}
	})

	t.Run("half a second is a window", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			require.Equal(t, 5, simulate(t, a, "5/500ms", st).admitted(0, 7))
		})
	})

	t.Run("two clients whose clocks differ share one budget in the store's time", func(t *testing.T) {
		storetest.Each(t, func(t *testing.T, st store.Store) {
			if _, ok := st.(store.Clock); !ok {
				t.Log("not here: the store tells no time")
				return
			}
			for _, a := range all {
				n := 0
				for range 2 { // limiters of two processes: neither brings a clock
					l := newLimiter(t, a, "10/100d", st, &weir.Options{Prefix: storetest.Prefix(t)})
					n += together(t, l, "k", 10)
				}
				require.Equal(t, 10, n, a)
			}
		})
	})

	t.Run("a late caller's clock gets no second budget", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "5/1m", st)
			require.Equal(t, 5, s.admitted(120, 10))
			again := s.admitted(59, 10) // 61 s behind
			if s.limiter.Plan().Name == "counter" {
				require.LessOrEqual(t, again, 5, "its own window's, which the counter plan keeps apart")
				return
			}
			require.Zero(t, again)
		})
	})

	t.Run("fifty thousand a second in the second window too", func(t *testing.T) {
		short := slices.DeleteFunc(algorithms.All(), func(a weir.Algorithm) bool { // no entry per request
			return a.Name() == "sliding-log" || a.Name() == "ring-log"
		})
		onStores(t, short, func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "50000/1s", st)
			for _, second := range []float64{0, 2.1} { // the weighted and the bucketed need the gap
				for range 5 {
					require.True(t, s.at(second, 10_000).Allowed)
				}
				require.False(t, s.at(second, 1).Allowed)
			}
		})
	})

	t.Run("an older time under another key changes nothing", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "3/1m", st)
			require.Equal(t, 3, s.admitted(90, 4))
			s.clock.us.Store(epoch)
			_, err := s.limiter.Take(context.Background(), "other", 1)
			require.NoError(t, err)
			require.Zero(t, s.admitted(90, 1))
		})
	})

	t.Run("a late request mints no tokens", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, "10/1s", st)
			require.Equal(t, 9, s.admitted(1, 9))
			late := s.admitted(0, 1)
			n := 9 + s.admitted(1, 20)
			if s.limiter.Plan().Name == "counter" {
				require.LessOrEqual(t, n, 10)
				return
			}
			require.Equal(t, 10, n+late)
		})
	})

	t.Run("fifty thousand a second with a burst of five", func(t *testing.T) {
		onStores(t, burst(5), func(t *testing.T, a weir.Algorithm, st store.Store) {
			require.Equal(t, 5, simulate(t, a, "50000/1s", st).admitted(.000003, 50))
		})
	})

	t.Run("sixty-four at once", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			clock := newSimClock(epoch)
			l := newLimiter(t, a, "100/60s", st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
			n := together(t, l, "k", 64) + together(t, l, "k", 64)
			require.LessOrEqual(t, n, 100)
			if !l.Plan().Spurious {
				require.Equal(t, 100, n)
			}
		})
	})

	t.Run("a limit per year is enforced", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			require.Equal(t, 5, simulate(t, a, "5/365d", st).admitted(0, 7))
		})
	})

	t.Run("a limit per thirty-one days is enforced", func(t *testing.T) {
		onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
			require.Equal(t, 5, simulate(t, a, "5/31d", st).admitted(0, 7))
		})
	})

	t.Run("a hundred on one hot key get decisions", func(t *testing.T) {
		onStores(t, append(gcra, algorithms.PackedLog(nil)), func(t *testing.T, a weir.Algorithm, st store.Store) {
			clock := newSimClock(epoch)
			l := newLimiter(t, a, "1000/1s", st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
			require.Equal(t, 100, together(t, l, "hot", 100))
		})
	})
}
