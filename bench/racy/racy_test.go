package racy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/racy"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
	"github.com/weirlimits/weir/store/redis"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// limiter returns a limiter of 10 per minute and the clock that it goes by.
func limiter(t *testing.T, a weir.Algorithm, st store.Store) (*weir.Weir, *time.Time) {
	t.Helper()
	now := start
	w, err := weir.New(a, weir.Limit{Count: 10, Window: time.Minute}, st, &weir.Options{Clock: func() time.Time { return now }})
	require.NoError(t, err)
	return w, &now
}

func newMemory(t *testing.T) *memory.Store {
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func each(t *testing.T, fn func(t *testing.T, a weir.Algorithm)) {
	for _, a := range racy.All() {
		t.Run(a.Name(), func(t *testing.T) { fn(t, a) })
	}
}

func TestLabelled(t *testing.T) {
	names := map[string]store.Capability{
		"sliding-log-racy": store.CapSortedSet, "ring-log-racy": store.CapList, "memory-naive": 0,
	}
	require.Len(t, racy.All(), len(names))
	each(t, func(t *testing.T, a weir.Algorithm) {
		needs, ok := names[a.Name()]
		require.True(t, ok)
		require.Equal(t, a.Name(), a.String())
		shape, err := a.Shape(weir.Limit{Count: 10, Window: time.Minute})
		require.NoError(t, err)
		require.Len(t, shape.Plans, 1)
		require.True(t, shape.Plans[0].Racy)
		require.Equal(t, "racy", shape.Plans[0].Exactness())
		require.Equal(t, needs, shape.Plans[0].Needs)

		parsed, err := racy.Parse(a.Name())
		require.NoError(t, err)
		require.Equal(t, a, parsed)
		_, err = algorithms.Parse(a.Name())
		require.Error(t, err, "no registry may list it")
	})
	require.False(t, slices.ContainsFunc(algorithms.Registry(), func(e algorithms.Entry) bool {
		_, listed := names[e.Name]
		return listed
	}))
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, name := range []string{"", "gcra", "memory-naive,x=1", "Memory-Naive"} {
		_, err := racy.Parse(name)
		require.EqualError(t, err, fmt.Sprintf("weir: racy algorithm: %q: want one of sliding-log-racy, ring-log-racy, memory-naive, without options", name))
	}
}

func TestRingLogKnowsWholeSecondsOnly(t *testing.T) {
	for window, valid := range map[time.Duration]bool{
		time.Millisecond: false, 999 * time.Millisecond: false, 1500 * time.Millisecond: false,
		time.Second: true, time.Minute: true,
	} {
		_, err := racy.RingLog().Shape(weir.Limit{Count: 1, Window: window})
		if valid {
			require.NoError(t, err)
			continue
		}
		var field *weir.FieldError
		require.ErrorAs(t, err, &field)
		require.Equal(t, "limit window", field.Field)
		require.Contains(t, field.Want, "whole seconds, at least 1s")
	}
}

// Alone, each does what it declares.
func TestAlone(t *testing.T) {
	t.Run("memory", func(t *testing.T) { alone(t, newMemory(t)) })
	t.Run("redis", func(t *testing.T) {
		st, err := redis.Open("redis://"+servertest.Redis(t).Addr, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, st.Close()) }()
		alone(t, st)
	})
}

func alone(t *testing.T, st store.Store) {
	each(t, func(t *testing.T, a weir.Algorithm) {
		w, now := limiter(t, a, st)
		take := func(cost int64, want weir.Decision) {
			t.Helper()
			d, err := w.Take(t.Context(), "k", cost)
			require.NoError(t, err)
			want.Limit = 10
			require.Equal(t, want, d)
		}
		take(0, weir.Decision{Allowed: true, Remaining: 10})
		take(4, weir.Decision{Allowed: true, Remaining: 6, ResetAfter: time.Minute})
		*now = start.Add(10 * time.Second)
		take(6, weir.Decision{Allowed: true, ResetAfter: time.Minute})
		*now = start.Add(15 * time.Second)
		take(1, weir.Decision{RetryAfter: 45 * time.Second, ResetAfter: 55 * time.Second})
		take(5, weir.Decision{RetryAfter: 55 * time.Second, ResetAfter: 55 * time.Second})
		take(11, weir.Decision{RetryAfter: weir.Never, ResetAfter: 55 * time.Second})
		take(0, weir.Decision{Allowed: true, ResetAfter: 55 * time.Second})
		*now = start.Add(time.Minute)
		take(5, weir.Decision{
			RetryAfter: 10 * time.Second, ResetAfter: 10 * time.Second, Remaining: remaining(a, 4, 0),
		})
		take(3, weir.Decision{Allowed: true, Remaining: remaining(a, 1, 0), ResetAfter: time.Minute})
		*now = start.Add(2 * time.Minute)
		take(0, weir.Decision{Allowed: true, Remaining: 10})
		take(10, weir.Decision{Allowed: true, ResetAfter: time.Minute})
		take(1, weir.Decision{RetryAfter: time.Minute, ResetAfter: time.Minute})

		other, err := w.Take(t.Context(), "other", 1)
		require.NoError(t, err)
		require.True(t, other.Allowed)
	})
}

// remaining is exact, but for the ring, which sees only how long its list is.
func remaining(a weir.Algorithm, exact, ring int64) int64 {
	if a.Name() == racy.RingLog().Name() {
		return ring
	}
	return exact
}

// Two requests of one microsecond are two members.
func TestSlidingLogMembersAreUnique(t *testing.T) {
	st := newMemory(t)
	w, _ := limiter(t, racy.SlidingLog(), st)
	twin, _ := limiter(t, racy.SlidingLog(), st)
	for i := range 10 {
		d, err := []*weir.Weir{w, twin}[i%2].Take(t.Context(), "k", 1)
		require.NoError(t, err)
		require.True(t, d.Allowed)
	}
	count, err := st.Card(t.Context(), w.Keys("k")[0])
	require.NoError(t, err)
	require.EqualValues(t, 10, count)
}

// Whoever's clock is ahead removes what the others still need.
func TestSlidingLogTrustsEveryClock(t *testing.T) {
	st := newMemory(t)
	w, _ := limiter(t, racy.SlidingLog(), st)
	ahead, now := limiter(t, racy.SlidingLog(), st)
	*now = start.Add(time.Hour)
	admitted := takeAll(t, w, 10)
	_, err := ahead.Take(t.Context(), "k", 10) // the log is its own now, and full
	require.NoError(t, err)
	*now = start.Add(2 * time.Hour)
	_, err = ahead.Take(t.Context(), "k", 1)
	require.NoError(t, err)
	require.Equal(t, 19, admitted+takeAll(t, w, 10))
}

func takeAll(t *testing.T, w *weir.Weir, n int) (admitted int) {
	t.Helper()
	for range n {
		d, err := w.Take(t.Context(), "k", 1)
		require.NoError(t, err)
		if d.Allowed {
			admitted++
		}
	}
	return admitted
}

// The end of second 0 and the start of second 60 lie within a minute.
func TestRingLogAdmitsTwiceAcrossSeconds(t *testing.T) {
	w, now := limiter(t, racy.RingLog(), newMemory(t))
	*now = start.Add(999 * time.Millisecond)
	admitted := takeAll(t, w, 20)
	*now = start.Add(time.Minute)
	require.Equal(t, 20, admitted+takeAll(t, w, 20))
	shape, err := racy.RingLog().Shape(w.Limit())
	require.NoError(t, err)
	require.EqualValues(t, 20, shape.Guarantee.MaxInWindow)
}

func TestRingLogRefusesWhatIsNoTime(t *testing.T) {
	st := newMemory(t)
	w, _ := limiter(t, racy.RingLog(), st)
	for range 10 {
		_, err := st.PushFront(t.Context(), w.Keys("k")[0], time.Hour, "noon")
		require.NoError(t, err)
	}
	_, err := w.Take(t.Context(), "k", 1)
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.ErrorContains(t, err, `"noon" is no time in seconds`)
}

// The store keeps nothing of it, so nothing can be forgotten, and each process counts for itself.
func TestMemoryNaiveIsPerProcess(t *testing.T) {
	st := newMemory(t)
	w, _ := limiter(t, racy.MemoryNaive(), st)
	other, _ := limiter(t, racy.MemoryNaive(), st)
	require.Equal(t, 20, takeAll(t, w, 10)+takeAll(t, other, 10))
	require.NoError(t, w.Reset(t.Context(), "k"))
	require.Zero(t, takeAll(t, w, 1))
	require.Empty(t, w.Keys("k"))
	require.Zero(t, st.Keys())
}
