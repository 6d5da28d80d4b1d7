package memory_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

var ctx = context.Background()

// clock is a clock that a test moves.
type clock struct{ us atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.us.Store(1_700_000_000_000_000)
	return c
}

func (c *clock) Now() time.Time          { return time.UnixMicro(c.us.Load()) }
func (c *clock) advance(d time.Duration) { c.us.Add(d.Microseconds()) }

func open(t testing.TB, o *memory.Options) *memory.Store {
	s := memory.New(o)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func limiter(t testing.TB, st store.Store, a weir.Algorithm, limit string) *weir.Weir {
	l, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	w, err := weir.New(a, l, st, nil)
	require.NoError(t, err)
	return w
}

func take(t testing.TB, l weir.Limiter, key string, n int64) weir.Decision {
	d, err := l.Take(ctx, key, n)
	require.NoError(t, err)
	return d
}

func TestTraitsTellWhatIsImplemented(t *testing.T) {
	s := open(t, nil)
	require.Equal(t, store.Implemented(s), s.Traits().Capabilities)
	require.Equal(t, store.ClassScript, s.Traits().Class())
}

func TestCounter(t *testing.T) {
	c := newClock()
	s := open(t, &memory.Options{Clock: c.Now})
	add := func(delta int64) int64 {
		n, err := s.Add(ctx, "k", delta, 10*time.Second)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, add(-5), "a missing counter cannot be given back to")
	require.Zero(t, s.Keys())
	require.EqualValues(t, 3, add(3))
	c.advance(9 * time.Second)
	require.EqualValues(t, 5, add(2))
	require.Zero(t, add(-9), "stops at zero")
	require.EqualValues(t, 4, add(4))
	c.advance(time.Second) // the TTL is the first one's: not renewed
	counts, err := s.Read(ctx, "k", "none")
	require.NoError(t, err)
	require.Equal(t, []int64{0, 0}, counts)

	_, err = s.Add(ctx, "big", math.MaxInt64, time.Second)
	require.NoError(t, err)
	_, err = s.Add(ctx, "big", 1, time.Second)
	require.ErrorIs(t, err, store.ErrOverflow)
	_, err = s.Add(ctx, "k", 1, 0)
	require.ErrorContains(t, err, "ttl")
}

func TestSwap(t *testing.T) {
	c := newClock()
	s := open(t, &memory.Options{Clock: c.Now})
	swap := func(v store.Version, value string) bool {
		ok, err := s.Swap(ctx, "k", v, []byte(value), time.Minute)
		require.NoError(t, err)
		return ok
	}
	require.False(t, swap("v", "x"), "no such version")
	require.True(t, swap("", ""), "an empty value is a value")
	require.False(t, swap("", "again"))
	value, v, err := s.Load(ctx, "k")
	require.NoError(t, err)
	require.NotNil(t, value)
	require.True(t, swap(v, "a value longer than what lies in the entry itself"))
	require.False(t, swap(v, "stale"))
	value, v, err = s.Load(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "a value longer than what lies in the entry itself", string(value))
	c.advance(time.Minute)
	require.False(t, swap(v, "expired"))
	value, v, err = s.Load(ctx, "k")
	require.NoError(t, err)
	require.Nil(t, value)
	require.Empty(t, v)
	_, err = s.Swap(ctx, "k", "", nil, 0)
	require.ErrorContains(t, err, "ttl")
}

func TestListAndSortedSet(t *testing.T) {
	s := open(t, nil)
	n, err := s.PushFront(ctx, "l", time.Minute, "a", "b", "c")
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	first, ok, err := s.Index(ctx, "l", 0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "c", first)
	require.NoError(t, s.Trim(ctx, "l", 0, 1))
	last, _, err := s.Index(ctx, "l", -1)
	require.NoError(t, err)
	require.Equal(t, "b", last)
	_, ok, err = s.Index(ctx, "l", 2)
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, s.Trim(ctx, "l", 5, 9))
	n, err = s.Len(ctx, "l")
	require.NoError(t, err)
	require.Zero(t, n)

	added, err := s.AddMembers(ctx, "z", time.Minute,
		store.Member{Score: 2, Name: "b"}, store.Member{Score: 1, Name: "c"}, store.Member{Score: 2, Name: "a"})
	require.NoError(t, err)
	require.EqualValues(t, 3, added)
	added, err = s.AddMembers(ctx, "z", time.Minute, store.Member{Score: 9, Name: "c"})
	require.NoError(t, err)
	require.Zero(t, added)
	members, err := s.Range(ctx, "z", 0, -1)
	require.NoError(t, err)
	require.Equal(t, []store.Member{{Score: 2, Name: "a"}, {Score: 2, Name: "b"}, {Score: 9, Name: "c"}}, members)
	removed, err := s.RemoveUpTo(ctx, "z", 2)
	require.NoError(t, err)
	require.EqualValues(t, 2, removed)
	_, err = s.Card(ctx, "l2")
	require.NoError(t, err)
	_, err = s.PushFront(ctx, "z", time.Minute, "x")
	require.Error(t, err, "another kind")
}

func TestEveryDecisionLeavesATTL(t *testing.T) {
	c := newClock()
	s := open(t, &memory.Options{Clock: c.Now})
	for _, a := range algorithms.All() {
		l := limiter(t, s, a, "10/1s")
		take(t, l, "k", 1)
		for _, key := range l.Keys("k") {
			ttl, err := s.TTL(ctx, key)
			require.NoError(t, err)
			require.Positive(t, ttl, a.Name())
			require.LessOrEqual(t, ttl, 4*time.Second, a.Name())
			size, err := s.Size(ctx, key)
			require.NoError(t, err)
			require.Positive(t, size, a.Name())
		}
		require.NoError(t, l.Reset(ctx, "k"))
		require.Zero(t, s.Keys(), a.Name())
	}
}

// RL-102: clients that ask once and never return are reclaimed, and memory comes back.
func TestRL102OneOffClientsAreReclaimed(t *testing.T) {
	c := newClock()
	s := open(t, &memory.Options{Clock: c.Now})
	for _, a := range algorithms.All() {
		l := limiter(t, s, a, "5/1s")
		before, clients := heap(), 20_000
		if a.Name() == "gcra" {
			clients = 100_000
		}
		for i := range clients {
			take(t, l, "client-"+strconv.Itoa(i), 1)
		}
		require.Equal(t, clients, s.Keys())
		c.advance(4 * time.Second)
		s.Sweep()
		require.Zero(t, s.Keys(), a.Name())
		require.Less(t, heap()-before, int64(2<<20), "%s: bytes left", a.Name())
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// RL-005: nobody is freed because another's window ended.
func TestRL005SweepNeverDropsALiveKey(t *testing.T) {
	c := newClock()
	s := open(t, &memory.Options{Clock: c.Now})
	l := limiter(t, s, algorithms.FixedWindowFirstHit(), "5/180s")
	c.advance(179 * time.Second)
	take(t, l, "b", 5)
	c.advance(2 * time.Second)
	s.Sweep()
	require.Equal(t, 178*time.Second, take(t, l, "b", 1).RetryAfter)
}

func TestTheSweeperRunsByItself(t *testing.T) {
	c := newClock()
	s := open(t, &memory.Options{Clock: c.Now})
	take(t, limiter(t, s, algorithms.GCRA(nil), "5/1s"), "k", 1)
	c.advance(time.Minute)
	require.Eventually(t, func() bool { return s.Keys() == 0 }, 10*time.Second, 20*time.Millisecond)
}

func TestAFullStoreFreesTheIdleAndKeepsTheBlocked(t *testing.T) {
	for _, a := range algorithms.All() {
		t.Run(a.Name(), func(t *testing.T) {
			c := newClock()
			s := open(t, &memory.Options{Clock: c.Now, MaxKeys: 1000})
			require.True(t, s.Traits().Evicts)
			l := limiter(t, s, a, "2/1h")
			blocked := make([]string, 500)
			for i := range blocked {
				blocked[i] = "blocked-" + strconv.Itoa(i)
				take(t, l, blocked[i], 2)
			}
			for i := range 5_000 {
				require.True(t, take(t, l, "flood-"+strconv.Itoa(i), 1).Allowed)
				require.LessOrEqual(t, s.Keys(), 1000)
			}
			for _, key := range blocked {
				require.False(t, take(t, l, key, 1).Allowed, key)
			}
			for i := range 500 { // the rest of the room
				_, err := l.Take(ctx, "more-"+strconv.Itoa(i), 2)
				require.NoError(t, err)
			}
			_, err := l.Take(ctx, "one too many", 1)
			require.ErrorIs(t, err, store.ErrFull)
			c.advance(3 * time.Hour)
			require.True(t, take(t, l, "later", 1).Allowed)
		})
	}
}

func TestConcurrentCallersGetExactlyTheLimit(t *testing.T) {
	for _, a := range algorithms.All() {
		s := open(t, &memory.Options{MaxKeys: 10_000})
		l := limiter(t, s, a, "1000/1h")
		var allowed atomic.Int64
		var callers sync.WaitGroup
		for range 64 {
			callers.Go(func() {
				for range 100 {
					if d, err := l.Take(ctx, "k", 1); err != nil {
						t.Error(err)
					} else if d.Allowed {
						allowed.Add(1)
					}
				}
			})
		}
		callers.Wait()
		if a.Name() == "gcra" { // refills meanwhile, one each 3.6 s
			require.InDelta(t, 1000, allowed.Load(), 20)
			continue
		}
		require.EqualValues(t, 1000, allowed.Load(), a.Name())
	}
}

func TestTakeAllocatesNothing(t *testing.T) {
	for _, a := range algorithms.All() {
		s := open(t, nil)
		l := limiter(t, s, a, "100/1s")
		keys := []string{"one", "two", "three"}
		for i := range 2000 { // until the rings of the logs have grown
			take(t, l, keys[i%len(keys)], 1)
		}
		i := 0
		allocs := testing.AllocsPerRun(5000, func() {
			i++
			_, _ = l.Take(ctx, keys[i%len(keys)], 1)
		})
		require.Zero(t, allocs, a.Name())
	}
}

// RL-065: after a step back the client gets its share again within a window, and no more than twice that.
func TestRL065ClockSetBack(t *testing.T) {
	for _, a := range algorithms.All() {
		c := newClock()
		s := open(t, &memory.Options{Clock: c.Now})
		l := limiter(t, s, a, "5/1s")
		for range 10 {
			take(t, l, "k", 1)
		}
		c.advance(-time.Hour)
		admitted := 0
		for range 30 {
			if take(t, l, "k", 1).Allowed {
				admitted++
			}
			c.advance(100 * time.Millisecond)
		}
		least := 10 // 5/s over 3 s, of which one refill is lost at most
		if a.Name() == "sliding-counter" {
			least = 8 // the full window also weighs on the next
		}
		require.GreaterOrEqual(t, admitted, least, a.Name())
		require.LessOrEqual(t, admitted, 20, a.Name())
	}
}

func TestClosedStore(t *testing.T) {
	s := memory.New(nil)
	l := limiter(t, s, algorithms.GCRA(nil), "5/1s")
	take(t, l, "k", 1)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err := l.Take(ctx, "k", 1)
	require.ErrorIs(t, err, store.ErrClosed)
	_, err = s.Add(ctx, "k", 1, time.Second)
	require.ErrorIs(t, err, store.ErrClosed)
	require.ErrorIs(t, s.Delete(ctx, "k"), store.ErrClosed)
	_, err = s.Prepare(nil, "x")
	require.ErrorIs(t, err, store.ErrClosed)
	require.Zero(t, s.Keys())
}

func TestCancelledContext(t *testing.T) {
	s := open(t, nil)
	l := limiter(t, s, algorithms.GCRA(nil), "5/1s")
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err := l.Take(done, "k", 1)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, s.Keys())
}

func TestOverlappingSpacesAreRefused(t *testing.T) {
	s := open(t, nil)
	step := &store.Step{Name: "x", Func: func([]byte, store.Args) store.Result { return store.Result{} }}
	_, err := s.Prepare(step, "a/")
	require.NoError(t, err)
	_, err = s.Prepare(step, "a/")
	require.NoError(t, err)
	for _, space := range []string{"a/b/", "a", ""} {
		_, err = s.Prepare(step, space)
		require.ErrorContains(t, err, fmt.Sprintf("%q", space))
	}
}

// RL-103: no goroutine outlives its store, closed or forgotten.
func TestRL103NoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 1000 {
		require.NoError(t, memory.New(nil).Close())
	}
	for range 100 {
		memory.New(nil)
	}
	for range 1000 {
		if runtime.GC(); runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
