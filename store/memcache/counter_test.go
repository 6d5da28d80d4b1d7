package memcache_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
)

func add(t *testing.T, s store.Counter, key string, delta, want int64) {
	t.Helper()
	n, err := s.Add(context.Background(), key, delta, ttl)
	require.NoError(t, err)
	require.Equal(t, want, n, "Add(%q, %d)", key, delta)
}

func read(t *testing.T, s store.Counter, keys ...string) []int64 {
	t.Helper()
	counts, err := s.Read(context.Background(), keys...)
	require.NoError(t, err)
	return counts
}

func TestCounter(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, addr string) {
		add(t, s, "a", 3, 3)
		add(t, s, "a", 97, 100)
		require.Equal(t, []int64{100}, read(t, s, "a"))

		t.Run("a counter made shorter reads without its blanks", func(t *testing.T) {
			add(t, s, "a", -99, 1)
			item, err := clientFor(t, addr).Get("a")
			require.NoError(t, err)
			require.Equal(t, "1  ", string(item.Value), "else this shows nothing")
			require.Equal(t, []int64{1}, read(t, s, "a"))
			add(t, s, "a", 4, 5)
			add(t, s, "a", 0, 5)
		})
		t.Run("giving back stops at zero and creates nothing", func(t *testing.T) {
			add(t, s, "a", -6, 0)
			add(t, s, "none", -6, 0)
			add(t, s, "none", math.MinInt64, 0)
			add(t, s, "none", 0, 0)
			_, err := clientFor(t, addr).Get("none")
			require.ErrorIs(t, err, gomemcache.ErrCacheMiss)
		})
		t.Run("several are read in their order", func(t *testing.T) {
			add(t, s, "b", 7, 7)
			require.Equal(t, []int64{7, 0, 0, 7}, read(t, s, "b", "missing", "a", "b"))
			require.Empty(t, read(t, s))
		})
		t.Run("deleted", func(t *testing.T) {
			require.NoError(t, s.Delete(context.Background(), "missing", "a", "b", "also missing"))
			require.NoError(t, s.Delete(context.Background()))
			require.Equal(t, []int64{0, 0}, read(t, s, "a", "b"))
		})
	})
}

func TestCounterOverflow(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, addr string) {
		client := clientFor(t, addr)
		overflows := func(t *testing.T, key string, delta int64) {
			t.Helper()
			_, err := s.Add(context.Background(), key, delta, ttl)
			require.ErrorIs(t, err, store.ErrOverflow)
		}
		raw := func(t *testing.T, key string) string {
			t.Helper()
			item, err := client.Get(key)
			require.NoError(t, err)
			return strings.TrimRight(string(item.Value), " ")
		}

		add(t, s, "top", math.MaxInt64-1, math.MaxInt64-1)
		for _, delta := range []int64{2, 1 << 32, 1<<32 + 1, math.MaxInt64} {
			overflows(t, "top", delta)
			require.Equal(t, []int64{math.MaxInt64 - 1}, read(t, s, "top"), "after adding %d", delta)
		}
		add(t, s, "top", 1, math.MaxInt64)
		overflows(t, "top", 1)
		add(t, s, "top", math.MinInt64, 0)

		// Numbers that only somebody else can have written.
		for _, foreign := range []uint64{math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64} {
			key, value := fmt.Sprintf("foreign-%d", foreign), strconv.FormatUint(foreign, 10)
			require.NoError(t, client.Set(&gomemcache.Item{Key: key, Value: []byte(value)}))
			for _, delta := range []int64{0, 1, 2, 1 << 40, math.MaxInt64} {
				overflows(t, key, delta)
				require.Equal(t, value, raw(t, key), "after adding %d", delta)
			}
			require.Equal(t, []int64{math.MaxInt64}, read(t, s, key))
		}
	})
}

func TestCounterOverflowConcurrent(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, _ string) {
		var admitted, refused int64
		var mu sync.Mutex
		var work sync.WaitGroup
		for range 32 {
			work.Go(func() {
				_, err := s.Add(context.Background(), "huge", math.MaxInt64, ttl)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					admitted++
				case errors.Is(err, store.ErrOverflow):
					refused++
				default:
					t.Errorf("Add: %v", err)
				}
			})
		}
		work.Wait()
		require.LessOrEqual(t, admitted, int64(1))
		require.Equal(t, int64(32), admitted+refused)
		require.Equal(t, []int64{admitted * math.MaxInt64}, read(t, s, "huge"))
	})
}

func TestCounterCorrupt(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, addr string) {
		ctx, client := context.Background(), clientFor(t, addr)
		for i, value := range []string{"", " ", "x", "-1", "1x", "123456789012345678901", "SERVER_ERROR out of memory"} {
			key := fmt.Sprintf("corrupt-%d", i)
			require.NoError(t, client.Set(&gomemcache.Item{Key: key, Value: []byte(value)}))
			_, err := s.Add(ctx, key, 1, ttl)
			require.ErrorIs(t, err, store.ErrCorrupt, "Add on %q", value)
			_, err = s.Add(ctx, key, -1, ttl)
			require.ErrorIs(t, err, store.ErrCorrupt, "Add(-1) on %q", value)
			_, err = s.Read(ctx, "other", key)
			require.ErrorIs(t, err, store.ErrCorrupt, "Read of %q", value)
			require.NotErrorIs(t, err, store.ErrFull)
			item, err := client.Get(key)
			require.NoError(t, err)
			require.Equal(t, value, string(item.Value), "left as it was")
		}
	})
}

func TestRL031ConcurrentAddsOnANewKeyLoseNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, _ string) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		const callers = 200
		counts := make([]int64, callers)
		var work sync.WaitGroup
		for i := range callers {
			work.Go(func() {
				n, err := s.Add(ctx, "new", 1, ttl)
				if err != nil {
					t.Errorf("Add: %v", err)
				}
				counts[i] = n
			})
		}
		work.Wait()
		seen := make(map[int64]bool, callers)
		for _, n := range counts {
			seen[n] = true
		}
		require.Len(t, seen, callers, "each caller saw a count of its own")
		require.Equal(t, []int64{callers}, read(t, s, "new"))
	})
}

func TestRL030EvictedBetweenAddAndIncr(t *testing.T) {
	t.Run("created by another, then evicted", func(t *testing.T) {
		s := open(t, inOrder(t, "NOT_FOUND", "NOT_STORED", "NOT_FOUND", "STORED"), patient)
		add(t, s, "k", 5, 5)
	})
	t.Run("created by another", func(t *testing.T) {
		s := open(t, inOrder(t, "NOT_FOUND", "NOT_STORED", "6"), patient)
		add(t, s, "k", 5, 6)
	})
	t.Run("again and again", func(t *testing.T) {
		var script []string
		for range 16 {
			script = append(script, "NOT_FOUND", "NOT_STORED")
		}
		s := open(t, inOrder(t, script...), patient)
		_, err := s.Add(context.Background(), "k", 5, ttl)
		require.ErrorIs(t, err, store.ErrContended)
	})
	t.Run("gone before an overflow is given back", func(t *testing.T) {
		s := open(t, inOrder(t, "9223372036854775808", "NOT_FOUND"), patient)
		_, err := s.Add(context.Background(), "k", 5, ttl)
		require.ErrorIs(t, err, store.ErrOverflow)
	})
	t.Run("an overflow that could not be given back is no overflow", func(t *testing.T) {
		s := open(t, inOrder(t, "9223372036854775808", "SERVER_ERROR busy"), patient)
		_, err := s.Add(context.Background(), "k", 5, ttl)
		require.ErrorIs(t, err, gomemcache.ErrServerError)
		require.NotErrorIs(t, err, store.ErrOverflow)
	})
}

func TestCounterTTLIsChecked(t *testing.T) {
	s := open(t, inOrder(t), nil)
	for _, bad := range []time.Duration{0, -time.Second, s.Traits().MaxTTL + 1, math.MaxInt64} {
		_, err := s.Add(context.Background(), "k", 1, bad)
		require.ErrorContains(t, err, "memcache: add: store: ttl")
	}
}
