package algorithms_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
)

// Faults that were reported of other limiters, each by its case number.

var (
	all   = algorithms.All()
	exact = []weir.Algorithm{algorithms.SlidingLog(), algorithms.RingLog(nil)}
	fixed = []weir.Algorithm{algorithms.FixedWindow()}
	first = []weir.Algorithm{algorithms.FixedWindowFirstHit()}
	count = []weir.Algorithm{algorithms.SlidingCounter()}
	gcra  = []weir.Algorithm{algorithms.GCRA(nil)}
)

func burst(n int64) []weir.Algorithm {
	return []weir.Algorithm{algorithms.GCRA(&algorithms.GCRAOptions{Burst: n})}
}

func repeat(from, step float64, n int) []float64 {
	var all []float64
	for i := range n {
		all = append(all, from+step*float64(i))
	}
	return all
}

func TestRL001BoundaryBurst(t *testing.T) {
	hits := []float64{55, 56, 57, 58, 59, 60, 60.1, 60.2, 60.3, 60.4}
	onStores(t, fixed, func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "5/1m", st).decides("AAAAAAAAAA", hits...)
	})
	onStores(t, exact, func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "5/1m", st).decides("AAAAADDDDDDA", append(hits, 114.999999, 115)...)
	})
}

func TestRL002BoundaryBurstFirstHit(t *testing.T) {
	hits := append([]float64{1}, append(repeat(58, 0, 8), repeat(62, 0, 8)...)...)
	onStores(t, first, func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "10/60s", st).decides(strings.Repeat("A", 17), hits...)
	})
	onStores(t, exact, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/60s", st)
		s.decides("A"+"AAAAAAAA"+"AADDDDDD", hits...)
		require.Equal(t, 56*time.Second, s.at(62, 1).RetryAfter)
	})
}

func TestRL005OneClientDoesNotFreeAnother(t *testing.T) {
	onStores(t, first, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "5/180s", st)
		s.clock.us.Store(epoch)
		_, err := s.limiter.Take(context.Background(), "other", 1)
		require.NoError(t, err)
		s.decides("AAAAAD", repeat(179, 0, 6)...)
		require.Equal(t, 178*time.Second, s.at(181, 1).RetryAfter)
	})
}

func TestRL011BoundaryTie(t *testing.T) {
	micro := algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond})
	onStores(t, slices.Concat(exact, gcra, first, fixed, []weir.Algorithm{micro}), func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "1/5s", st).decides("ADDDDAA", 0, 1, 2, 3, 4, 5, 10)
	})
}

func TestRL012DailyRollover(t *testing.T) {
	onStores(t, append(exact, gcra...), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "3/24h", st)
		s.decides("AAA", repeat(86400-600, 0, 3)...)
		s.decides("D", 86400+600)
	})
	onStores(t, fixed, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "3/24h", st)
		s.decides("AAADA", 86400-600, 86400-600, 86400-600, 86399.999999, 86400)
	})
}

func TestRL027PreviousWindowExpiresTooSoon(t *testing.T) {
	minutes := algorithms.BucketedWindow(nil) // sixty sub-windows
	onStores(t, append(exact, algorithms.PackedLog(nil), minutes), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/1h", st)
		s.decides("A"+"AAAAAAAA", append([]float64{0}, repeat(59*60, 0, 8)...)...)
		s.decides("AADDDDDDD", repeat(61*60, 0, 9)...)
	})
	onStores(t, count, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/1h", st)
		s.decides("A"+"AAAAAAAA", append([]float64{0}, repeat(59*60, 0, 8)...)...)
		s.decides("AD", repeat(61*60, 0, 2)...) // 9 x 59/60 still weigh: one fits
	})
}

func TestRL037SameInstantIsNotOneMember(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "5/10s", st).decides("AAAAADDDDD", repeat(1, 0, 10)...)

		s := simulate(t, a, "5/10s", st)
		var allowed atomic.Int64
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				if d, err := s.limiter.Take(context.Background(), "together", 1); err != nil {
					t.Error(err)
				} else if d.Allowed {
					allowed.Add(1)
				}
			})
		}
		callers.Wait()
		require.EqualValues(t, 5, allowed.Load())
	})
}

func TestRL039TrimBeforeCount(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		if a.Name() == "sliding-counter" {
			simulate(t, a, "3/10s", st).decides("AAAD", 0, 1, 2, 10.5) // 95 % of three still weigh
			return
		}
		simulate(t, a, "3/10s", st).decides("AAAA", 0, 1, 2, 10.5)
	})
}

func TestRL041DeniedDoNotExtendTheBlock(t *testing.T) {
	onStores(t, append(append(exact, gcra...), first...), func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "1/5s", st).decides("ADDDDADDDDADDDDADDDDA", repeat(0, 1, 21)...)
	})
	onStores(t, exact, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/10m", st)
		admitted := 0
		for _, at := range repeat(0, 30, 60) { // 2 a minute for half an hour
			if s.at(at, 1).Allowed {
				admitted++
			}
		}
		require.Equal(t, 30, admitted)
	})
	aggressive := []weir.Algorithm{algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: true})}
	onStores(t, aggressive, func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "1/5s", st).decides("A"+strings.Repeat("D", 20), repeat(0, 1, 21)...)
	})
}

func TestRL043MixedCosts(t *testing.T) {
	onStores(t, append(exact, fixed...), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/60s", st)
		got := letter(s.at(0, 8)) + letter(s.at(0, 1)) + letter(s.at(0, 1)) + letter(s.at(0, 1)) + letter(s.at(60, 8))
		require.Equal(t, "AAADA", got)
	})
}

func TestRL044RetryFromTheOldest(t *testing.T) {
	onStores(t, exact, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "3/10s", st)
		s.decides("AAA", 0, 4, 8)
		require.Equal(t, time.Second, s.at(9, 1).RetryAfter)
	})
}

func TestRL048AggressiveRing(t *testing.T) {
	aggressive := []weir.Algorithm{algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: true})}
	onStores(t, aggressive, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "2/10s", st)
		s.decides("AA"+strings.Repeat("D", 29), repeat(0, 1, 31)...)
		s.decides("A", 41)
	})
	onStores(t, exact, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "2/10s", st)
		s.decides("AADDDDDDDDAADDDDDDDDAADDDDDDDDA", repeat(0, 1, 31)...)
	})
}

func TestRL053BigLimitCountsDown(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "1000000/1h", st)
		for i := range int64(5) {
			require.Equal(t, 999_999-i, s.at(0, 1).Remaining)
		}
	})
}

func TestRL056NoOverflowAfterIdle(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "1000000/1h", st)
		for _, at := range []float64{0, 12 * 3600, 12*3600 + 10*365*86400} {
			d := s.at(at, 1)
			require.True(t, d.Allowed)
			require.EqualValues(t, 999_999, d.Remaining)
		}
	})
}

func TestRL059RateZero(t *testing.T) {
	for _, l := range []weir.Limit{{Count: 0, Window: time.Second}, {Count: -1, Window: time.Second}} {
		for _, a := range all {
			_, err := weir.New(a, l, storetest.Memory(t), nil)
			var field *weir.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, "limit count", field.Field)
		}
	}
}

func TestRL061LateClockMintsNothing(t *testing.T) {
	onStores(t, gcra, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "5/1s", st)
		s.decides("AAAAA", repeat(331, 0, 5)...)
		s.decides("AAAA", repeat(332, 0, 4)...)
		s.decides("D", 331)
		s.decides("ADDDD", repeat(332, 0, 5)...)
	})
	onStores(t, append(exact, first...), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "5/1s", st)
		admitted := 0
		for _, at := range append(append(append(repeat(331, 0, 5), repeat(332, 0, 4)...), 331), repeat(332, 0, 5)...) {
			if s.at(at, 1).Allowed {
				admitted++
			}
		}
		require.Equal(t, 10, admitted)
	})
}

func TestRL067SteppingBackDrainsNothing(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "5/5s", st)
		require.EqualValues(t, 4, s.at(100, 1).Remaining)
		d := s.at(90, 1)
		if a.Name() == "gcra" && !d.Allowed {
			require.LessOrEqual(t, d.RetryAfter, 15*time.Second) // 10 s behind and one refill
			return
		}
		require.True(t, d.Allowed)
		want := int64(3)
		if s.limiter.Plan().Name == "counter" {
			want = 4 // a late clock counts in the window that it believes in
		}
		require.Equal(t, want, d.Remaining)
	})
}

func TestRL068SpacedHitsAboveTheRate(t *testing.T) {
	onStores(t, burst(1), func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "2/1s", st).decides("ADADADAD", .259, .533, .783, 1.035, 1.289, 1.541, 1.790, 2.040)
	})
}

func TestRL069LeaksWhileHitsGoOn(t *testing.T) {
	onStores(t, gcra, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/30s", st)
		var got []int64
		for _, at := range repeat(0, 1, 11) {
			got = append(got, s.at(at, 1).Remaining)
		}
		require.Equal(t, []int64{9, 8, 7, 7, 6, 5, 5, 4, 3, 3, 2}, got)
	})
}

func TestRL071RemainingNeverAboveTheLimit(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/1s", st)
		s.at(0, 1)
		require.EqualValues(t, 10, s.at(10, 0).Remaining)
	})
}

func TestRL074WaitKnowsThePartialToken(t *testing.T) {
	onStores(t, burst(1), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "1/1s", st)
		s.at(0, 1)
		require.Equal(t, 800*time.Millisecond, s.at(.2, 1).RetryAfter)
	})
}

func TestRL076BurstIsWhatOneInstantAdmits(t *testing.T) {
	onStores(t, burst(5), func(t *testing.T, a weir.Algorithm, st store.Store) {
		simulate(t, a, "10/1s", st).decides("AAAAADDADADD", 0, 0, 0, 0, 0, 0, 0, .1, .1, .2, .2, .299999)
	})
}

func TestRL077ResetIsNotRetry(t *testing.T) {
	onStores(t, burst(6), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "3600/1h", st)
		s.decides("AAAAAA", repeat(0, 0, 6)...)
		d := s.at(0, 1)
		require.Equal(t, weir.Decision{Limit: 6, RetryAfter: time.Second, ResetAfter: 6 * time.Second}, d)
	})
}

func TestRL078ResetIsExact(t *testing.T) {
	onStores(t, burst(16), func(t *testing.T, a weir.Algorithm, st store.Store) {
		require.Equal(t, 2*time.Second, simulate(t, a, "30/60s", st).at(0, 1).ResetAfter)
	})
}

func TestRL079CostAboveCapacity(t *testing.T) {
	check := func(limit string) func(*testing.T, weir.Algorithm, store.Store) {
		return func(t *testing.T, a weir.Algorithm, st store.Store) {
			s := simulate(t, a, limit, st)
			require.Equal(t, weir.Decision{Limit: 6, Remaining: 6, RetryAfter: weir.Never}, s.at(0, 10))
			storetest.NoKeys(t, st, s.limiter.Keys("k"))
		}
	}
	onStores(t, burst(6), check("1/60s"))
	onStores(t, all, check("6/60s"))
}

func TestRL082RaisingTheLimitTakesEffect(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "4/20s", st)
		s.decides("AAAAD", repeat(0, 0, 5)...)
		s.limiter = newLimiter(t, a, "1000/20s", st, &weir.Options{Clock: s.clock.Now, Prefix: storetest.Prefix(t)})
		d := s.at(0, 1)
		require.True(t, d.Allowed)
		require.EqualValues(t, 995, d.Remaining)
	})
	onStores(t, burst(16), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/20s", st)
		s.decides("AAAA", repeat(0, 0, 4)...)
		s.limiter = newLimiter(t, a, "1000/20s", st, &weir.Options{Clock: s.clock.Now, Prefix: storetest.Prefix(t)})
		d := s.at(0, 1)
		require.True(t, d.Allowed)
		require.EqualValues(t, 11, d.Remaining)
	})
}

func TestLoweringTheLimitAdmitsNoMore(t *testing.T) {
	blocks := algorithms.PackedLog(&algorithms.PackedLogOptions{Error: .2}) // other limits, other blocks
	onStores(t, append(slices.Clone(all), blocks), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "100/20s", st)
		require.True(t, s.at(0, 50).Allowed)
		s.limiter = newLimiter(t, a, "10/20s", st, &weir.Options{Clock: s.clock.Now, Prefix: storetest.Prefix(t)})
		d := s.at(0, 1)
		require.False(t, d.Allowed)
		require.Zero(t, d.Remaining)
		require.LessOrEqual(t, d.RetryAfter, 40*time.Second)
		require.True(t, s.at(d.RetryAfter.Seconds(), 1).Allowed)
	})
}

func TestRL083DeniedDoNotCountWhenTheLimitRises(t *testing.T) {
	onStores(t, append(fixed, exact...), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/1h", st)
		for range 50 {
			s.at(0, 1)
		}
		s.limiter = newLimiter(t, a, "20/1h", st, &weir.Options{Clock: s.clock.Now, Prefix: storetest.Prefix(t)})
		s.decides("AAAAAAAAAADD", repeat(0, 0, 12)...)
	})
}

func TestRL113KeysThatOnlyLookAlike(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		p := storetest.Prefix(t)
		one := newLimiter(t, a, "1/1h", st, &weir.Options{Prefix: p + "a:b"})
		two := newLimiter(t, a, "1/1h", st, &weir.Options{Prefix: p + "a"})
		for _, take := range []struct {
			l   *weir.Weir
			key string
		}{{one, "c"}, {two, "b:c"}, {two, "10.0.0.11/x"}, {two, "10.0.0.1"}, {two, "1/x"}} {
			d, err := take.l.Take(context.Background(), take.key, 1)
			require.NoError(t, err)
			require.True(t, d.Allowed, take.key)
		}
	})
}

func TestRL124RateIsNotAWindow(t *testing.T) {
	onStores(t, append(all, burst(1)...), func(t *testing.T, a weir.Algorithm, st store.Store) {
		want := "AAAAA"
		if a.String() == "gcra,burst=1" {
			want = "ADDDD"
		}
		simulate(t, a, "6/60s", st).decides(want, repeat(0, 0, 5)...)
	})
}
