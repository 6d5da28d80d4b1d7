package redis_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

func TestCounter(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		ctx := t.Context()
		add := func(key string, delta int64) int64 {
			t.Helper()
			n, err := b.Add(ctx, key, delta, time.Minute)
			require.NoError(t, err)
			return n
		}

		t.Run("counts from zero", func(t *testing.T) {
			require.EqualValues(t, 3, add("n", 3))
			require.EqualValues(t, 5, add("n", 2))
			b.lives(t, "n", time.Minute)
		})
		t.Run("zero creates nothing", func(t *testing.T) {
			require.Zero(t, add("zero", 0))
			require.EqualValues(t, 2, add("zero", 2))
			require.EqualValues(t, 2, add("zero", 0))
			b.lives(t, "zero", time.Minute)
		})
		t.Run("gives back down to zero", func(t *testing.T) {
			add("back", 3)
			require.EqualValues(t, 1, add("back", -2))
			require.Zero(t, add("back", -2))
			require.Zero(t, add("back", -1))
			require.Zero(t, add("back", math.MinInt64))
			b.lives(t, "back", time.Minute)
			require.EqualValues(t, 4, add("back", 4))
		})
		t.Run("giving back creates nothing", func(t *testing.T) {
			require.Zero(t, add("none", -1))
			require.Zero(t, b.client.Exists(ctx, "none").Val())
		})
		t.Run("overflow changes nothing", func(t *testing.T) {
			most := b.Traits().MaxCounter
			_, err := b.Add(ctx, "fresh", math.MaxInt64, time.Minute)
			require.ErrorIs(t, err, store.ErrOverflow)
			require.Zero(t, b.client.Exists(ctx, "fresh").Val())
			require.Equal(t, most-1, add("full", most-1))
			_, err = b.Add(ctx, "full", 2, time.Minute)
			require.ErrorIs(t, err, store.ErrOverflow)
			require.Equal(t, most, add("full", 1), "exact up to the largest")
			_, err = b.Add(ctx, "full", 1, time.Minute)
			require.ErrorIs(t, err, store.ErrOverflow)
			require.Equal(t, most-1, add("full", -1))
			require.Zero(t, add("full", -most))
		})
		t.Run("expires", func(t *testing.T) {
			add("short", 7)
			b.gone(t, time.Minute, "short")
			require.EqualValues(t, 1, add("short", 1))
		})
		t.Run("read", func(t *testing.T) {
			add("r1", 1)
			add("r2", 22)
			got, err := b.Read(ctx, "r2", "missing", "r1", "r2")
			require.NoError(t, err)
			require.Equal(t, []int64{22, 0, 1, 22}, got)
			got, err = b.Read(ctx)
			require.NoError(t, err)
			require.Empty(t, got)
		})
		t.Run("odd keys never meet", func(t *testing.T) {
			for i, key := range odd {
				require.EqualValues(t, i+100, add("odd"+key, int64(i+100)))
			}
			require.EqualValues(t, 9, add("", 9))
		})
		t.Run("foreign values stay", func(t *testing.T) {
			for key, value := range map[string]string{"text": "abc", "hex": "0x10", "exponent": "1e3", "below": "-4", "above": "9007199254740992"} {
				require.NoError(t, b.client.Set(ctx, key, value, 0).Err())
				_, err := b.Add(ctx, key, 1, time.Minute)
				require.ErrorIs(t, err, store.ErrCorrupt, key)
				_, err = b.Read(ctx, key)
				require.ErrorIs(t, err, store.ErrCorrupt, key)
				require.Equal(t, value, b.client.Get(ctx, key).Val())
			}
		})
		t.Run("wrong type", func(t *testing.T) {
			require.NoError(t, b.client.LPush(ctx, "alist", "x").Err())
			_, err := b.Add(ctx, "alist", 1, time.Minute)
			requireWrongType(t, err)
			_, err = b.Read(ctx, "n", "alist")
			requireWrongType(t, err)
		})
		t.Run("ttl", func(t *testing.T) {
			for _, ttl := range []time.Duration{0, -1, b.Traits().MaxTTL + 1} {
				_, err := b.Add(ctx, "ttl", 1, ttl)
				require.ErrorContains(t, err, "ttl")
			}
			_, err := b.Add(ctx, "longest", 1, b.Traits().MaxTTL)
			require.NoError(t, err)
		})
	})
}

func TestCounterIsAtomic(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		seen := make([]bool, 201)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 10 {
					n, err := b.Add(t.Context(), "hot", 1, time.Minute)
					mu.Lock()
					if err == nil && n > 0 && n <= 200 {
						seen[n] = true
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for n := 1; n <= 200; n++ {
			require.True(t, seen[n], "nobody was told %d", n)
		}
	})
}

// RL-013: a counter whose writer died between INCR and EXPIRE is not kept for ever.
func TestRL013CounterWithoutTTLHeals(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		for _, delta := range []int64{1, 0, -1} {
			require.NoError(t, b.client.Set(t.Context(), "left", 5, 0).Err())
			n, err := b.Add(t.Context(), "left", delta, time.Second)
			require.NoError(t, err)
			require.Equal(t, 5+delta, n)
			b.lives(t, "left", time.Second)
		}
	})
}

// RL-015: a counter that expired in the instant of a hit is created again with a TTL.
func TestRL015NoCounterWithoutTTL(t *testing.T) {
	b := onMini(t)
	const window = 200 * time.Millisecond
	for range 50 {
		_, err := b.Add(t.Context(), "beat", 1, window)
		require.NoError(t, err)
		require.Positive(t, b.mini.TTL("beat"))
		b.mini.FastForward(window)
	}
}

// RL-016: additions do not keep a counter alive.
func TestRL016TTLIsNotRenewed(t *testing.T) {
	b := onMini(t)
	for hit := range 20 {
		n, err := b.Add(t.Context(), "slow", 1, 10*time.Second)
		require.NoError(t, err)
		require.EqualValues(t, hit%2+1, n)
		b.mini.FastForward(6 * time.Second)
	}
}

// RL-017: TTLs under a second and under a millisecond are neither 0 nor 1 s.
func TestRL017ShortTTL(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		for key, ttl := range map[string]time.Duration{"half": 500 * time.Millisecond, "hundred": 100 * time.Millisecond} {
			_, err := b.Add(t.Context(), key, 1, ttl)
			require.NoError(t, err)
			b.lives(t, key, ttl)
		}
		for _, ttl := range []time.Duration{1, 500 * time.Microsecond, time.Millisecond} {
			_, err := b.Add(t.Context(), "tiny", 1, ttl)
			require.NoError(t, err)
			ok, err := b.Swap(t.Context(), "tiny value", "", []byte("x"), ttl)
			require.NoError(t, err)
			if b.mini != nil {
				require.True(t, ok)
				require.Equal(t, 2*time.Millisecond, b.mini.TTL("tiny"))
				require.Equal(t, 2*time.Millisecond, b.mini.TTL("tiny value"))
				b.mini.FastForward(2 * time.Millisecond)
			}
		}
	})
}

func TestClosedAndCanceled(t *testing.T) {
	b := onMini(t)
	runner, err := b.Prepare(countStep, "space")
	require.NoError(t, err)
	calls := everyMethod(b.Store, runner)
	for name, call := range calls {
		require.ErrorIs(t, call(canceled(t)), context.Canceled, name)
	}
	require.Empty(t, b.mini.Keys(), "nothing was sent")
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	for name, call := range calls {
		require.ErrorIs(t, call(t.Context()), store.ErrClosed, name)
	}
	_, err = b.Prepare(countStep, "space")
	require.ErrorIs(t, err, store.ErrClosed)

	theirs := redis.New(b.client, nil)
	require.NoError(t, theirs.Close())
	require.NoError(t, b.client.Ping(t.Context()).Err(), "the caller's client stays open")
}
