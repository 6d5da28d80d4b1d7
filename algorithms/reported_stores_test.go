package algorithms_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
)

// Faults that were reported of how other limiters use their stores.

// RL-003: a decision that reaches the store a little late still finds the window's count.
func TestRL003KeysOutliveTheirWindow(t *testing.T) {
	for _, a := range append(fixed, first...) {
		step, params := algorithms.StepOf(a, weir.Limit{Count: 2, Window: time.Minute})
		res := step.Func(nil, store.Args{Now: epoch + 10e6, OwnTime: true, Cost: 2, Params: params})
		require.Greater(t, res.TTL, res.Reply.ResetAfter+80_000, a)
	}
}

func TestRL019WindowsThatAreNone(t *testing.T) {
	for _, a := range all {
		for _, w := range []time.Duration{0, -time.Second, 500 * time.Microsecond, time.Millisecond + 1, weir.MaxWindow + 1} {
			_, err := weir.New(a, weir.Limit{Count: 1, Window: w}, storetest.Memory(t), nil)
			var field *weir.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, "limit window", field.Field)
		}
	}
	l, err := weir.ParseLimit("5/0.1m")
	require.NoError(t, err)
	require.Equal(t, 6*time.Second, l.Window)
}

// RL-025: a window of years is kept, or refused where the store cannot.
func TestRL025WindowsOfYears(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st store.Store) {
		for _, a := range all {
			for _, window := range []string{"365d", "3650d"} {
				clock := newSimClock(epoch)
				l, err := weir.ParseLimit("5/" + window)
				require.NoError(t, err)
				limiter, err := weir.New(a, l, st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
				var field *weir.FieldError
				switch {
				case errors.Is(err, errors.ErrUnsupported):
					continue
				case errors.As(err, &field) && store.TTL(l.Window.Microseconds()) > st.Traits().MaxTTL/2:
					require.Equal(t, "limit window", field.Field)
					continue
				}
				require.NoError(t, err)
				s := &simulation{t: t, clock: clock, limiter: limiter}
				require.Equal(t, 5, s.admitted(0, 6), "%s %s", a, l)
			}
		}
	})
}

// RL-062: a late reading takes nothing back: full by one second's refill, not by two.
func TestRL062LateTimeDoesNotRewind(t *testing.T) {
	onStores(t, burst(1000), func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "100/1s", st)
		s.at(10, 1000)
		s.at(11, 10) // 90 are left
		s.at(10, 0)
		s.at(9, 0)
		require.EqualValues(t, 190, s.at(12, 0).Remaining)
	})
}

// RL-064: by the store's own time all callers share one log; where they bring theirs, a
// clock d ahead adds at most what d refills.
func TestRL064AClockAheadTrimsNothing(t *testing.T) {
	onStores(t, exact, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "10/10s", st)
		require.Equal(t, 10, s.admitted(100, 10))
		require.Equal(t, 10, s.admitted(111, 11), "11 s ahead: one window further")
		require.Zero(t, s.admitted(100, 10), "and nothing for the others")
		require.Zero(t, s.admitted(111, 1))
	})
}

// RL-089: all keys of one decision are in one cluster slot, whatever the user's key.
func TestRL089OneSlot(t *testing.T) {
	random := rand.New(rand.NewPCG(89, 89))
	layers := weir.Layered(algorithms.SlidingLog(), weir.Layer{Algorithm: algorithms.RingLog(nil), Limit: weir.Limit{Count: 9, Window: time.Hour}})
	for _, st := range []store.Store{storetest.Miniredis(t), storetest.MemcachedCounter(t)} {
		for _, a := range append(algorithms.All(), layers) {
			l, err := weir.New(a, weir.Limit{Count: 9, Window: time.Minute}, st, nil)
			if err != nil {
				continue
			}
			for range 1000 {
				key := make([]byte, random.IntN(12))
				for i := range key {
					key[i] = "{}:#a\x00"[random.IntN(6)]
				}
				tags := map[string]bool{}
				for _, full := range l.Keys(string(key)) {
					tags[hashTag(full)] = true
				}
				require.Len(t, tags, 1, "%s: %q", a, key)
			}
		}
	}
}

// hashTag is the part of a key that decides its slot: what stands in its first braces,
// unless that is nothing.
func hashTag(key string) string {
	if _, tail, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(tail, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}

func TestRL094ALostKeyStartsAfresh(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "1/1h", st)
		s.decides("AD", 0, 0)
		require.NoError(t, st.Delete(context.Background(), s.limiter.Keys("k")...))
		s.decides("AD", 0, 0)
	})
}

// RL-099: a caller that has gone gets its own error, and nothing is counted.
func TestRL099CancelledContext(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "5/1h", st)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for range 100 {
			_, err := s.limiter.Take(ctx, "k", 1)
			require.ErrorIs(t, err, context.Canceled)
		}
		require.EqualValues(t, 5, s.at(0, 0).Remaining)
	})
}

// RL-100: a state that expired between two requests is no conflict.
func TestRL100ExpiredStateIsNoConflict(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		s := simulate(t, a, "2/500ms", st)
		for i := range 4 {
			require.True(t, s.at(3*float64(i), 2).Allowed)
			require.NoError(t, st.Delete(context.Background(), s.limiter.Keys("k")...))
		}
	})
}

// RL-101: every store decides alike, remaining, retry and reset included.
func TestRL101StoresAgree(t *testing.T) {
	variants := append(variants(), weir.Layered(algorithms.GCRA(nil),
		weir.Layer{Algorithm: algorithms.BucketedWindow(nil), Limit: weir.Limit{Count: 4, Window: 300 * time.Millisecond}},
		weir.Layer{Algorithm: algorithms.PackedLog(nil), Limit: weir.Limit{Count: 4, Window: 200 * time.Millisecond}},
		weir.Layer{Algorithm: algorithms.FixedWindow(), Limit: weir.Limit{Count: 5, Window: 7 * time.Millisecond}},
		weir.Layer{Algorithm: algorithms.SlidingCounter(), Limit: weir.Limit{Count: 3, Window: 70 * time.Millisecond}}))
	want := map[string][]weir.Decision{}
	storetest.Each(t, func(t *testing.T, st store.Store) {
		for _, a := range variants {
			clock := newSimClock(epoch)
			l, err := weir.New(a, weir.Limit{Count: 7, Window: time.Second}, st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
			if err != nil {
				require.ErrorIs(t, err, errors.ErrUnsupported)
				continue
			}
			random := rand.New(rand.NewPCG(101, 101))
			var got []weir.Decision
			for range 100 {
				clock.us.Add(random.Int64N(300_000))
				d, err := l.Take(context.Background(), fmt.Sprint("k", random.IntN(2)), random.Int64N(4))
				require.NoError(t, err)
				got = append(got, d)
			}
			if want[a.String()] == nil {
				want[a.String()] = got
			}
			require.Equal(t, want[a.String()], got, a)
		}
	})
}

// RL-114: how much memory a client's key takes is not the client's choice.
func TestRL114LongKeysAreBounded(t *testing.T) {
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		l := newLimiter(t, a, "1/1h", st, &weir.Options{Prefix: storetest.Prefix(t)})
		long := strings.Repeat("x", 10_000)
		for _, key := range []string{long + "1", long + "2", long} {
			require.Less(t, len(l.Keys(key)[0]), 250)
			d, err := l.Take(context.Background(), key, 1)
			require.NoError(t, err)
			require.True(t, d.Allowed, "keys that differ in the last byte are two")
		}
	})
}
