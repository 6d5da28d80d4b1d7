package backend

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// guests are shared servers, with a foreign client beside ours.
type guest struct {
	url   string
	put   func(key, value string)
	get   func(key string) string // empty if missing
	count func() int              // keys in the server
}

func redisGuest(t *testing.T, addr, url string) guest {
	c := goredis.NewClient(&goredis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	ctx := context.Background()
	return guest{
		url: url,
		put: func(key, value string) { require.NoError(t, c.Set(ctx, key, value, 0).Err()) },
		get: func(key string) string { return c.Get(ctx, key).Val() },
		count: func() int {
			n, err := c.DBSize(ctx).Result()
			require.NoError(t, err)
			return int(n)
		},
	}
}

func memcacheGuest(t *testing.T, addr, url string) guest {
	c := gomemcache.New(addr)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return guest{
		url: url,
		put: func(key, value string) {
			require.NoError(t, c.Set(&gomemcache.Item{Key: key, Value: []byte(value)}))
		},
		get: func(key string) string {
			item, err := c.Get(key)
			if err != nil {
				require.ErrorIs(t, err, gomemcache.ErrCacheMiss)
				return ""
			}
			return string(item.Value)
		},
		count: func() int {
			stats, err := askStats(context.Background(), addr, "stats")
			require.NoError(t, err)
			n, err := number(stats, "curr_items")
			require.NoError(t, err)
			return int(n)
		},
	}
}

// eachGuest runs fn on every kind of shared server.
func eachGuest(t *testing.T, fn func(t *testing.T, g guest)) {
	t.Run("redis", func(t *testing.T) {
		addr := servertest.Redis(t).Addr
		fn(t, redisGuest(t, addr, "redis://"+addr+"/0"))
	})
	t.Run("redis cluster", func(t *testing.T) {
		cluster := servertest.Cluster(t, 1, 0)
		fn(t, redisGuest(t, cluster.Masters[0].Addr, cluster.URL()))
	})
	t.Run("memcache", func(t *testing.T) {
		addr := servertest.Memcached(t).Addr
		fn(t, memcacheGuest(t, addr, "memcache://"+addr))
	})
	t.Run("memcache counter", func(t *testing.T) {
		addr := servertest.Memcached(t).Addr
		fn(t, memcacheGuest(t, addr, "memcache+counter://"+addr))
	})
}

func TestForeignKeysStay(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		b := open(t, g.url, nil)
		require.True(t, b.Shared)
		require.Equal(t, g.url, b.Name)
		foreign := []string{"weir/gcra.1.1s/k", "other", b.run, b.run + "x", strings.ToLower(b.allKeys()) + "1/k"}
		for _, key := range foreign {
			g.put(key, "theirs")
		}
		first, second := b.NewPrefix(), b.NewPrefix()
		require.NotEqual(t, first, second)
		for i := range 300 {
			_, err := limiter(t, b, algorithms.FixedWindow(), first).Take(t.Context(), fmt.Sprint("k", i), 1)
			require.NoError(t, err)
		}
		takeFive(t, limiter(t, b, algorithms.FixedWindow(), second), strings.Repeat("long", 200))
		require.Equal(t, len(foreign)+301, g.count())

		removed, err := b.Cleanup(t.Context())
		require.NoError(t, err)
		require.Equal(t, 301, removed)
		require.Equal(t, len(foreign), g.count())

		takeFive(t, limiter(t, b, algorithms.FixedWindow(), first), "after")
		require.Equal(t, len(foreign)+1, g.count())
		require.NoError(t, b.Close())
		require.Equal(t, len(foreign), g.count())
		for _, key := range foreign {
			require.Equal(t, "theirs", g.get(key), key)
		}
	})
}

// An interrupt cancels the run's context while callers are under way, and then closes.
func TestNothingStaysAfterAnInterrupt(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		b := open(t, g.url, nil)
		g.put("other", "theirs")
		w := limiter(t, b, algorithms.FixedWindow(), b.NewPrefix())
		ctx, interrupt := context.WithCancel(t.Context())
		ended := make(chan struct{})
		for caller := range 8 {
			go func() {
				defer func() { ended <- struct{}{} }()
				for i := 0; ctx.Err() == nil; i++ {
					_, _ = w.Take(ctx, fmt.Sprint("k", caller, ".", i), 1)
				}
			}()
		}
		require.Eventually(t, func() bool { return g.count() > 50 }, 10*time.Second, time.Millisecond)
		interrupt()
		for range 8 {
			<-ended
		}
		removed, err := b.Cleanup(ctx)
		require.NoError(t, err)
		require.Greater(t, removed, 49)
		require.NoError(t, b.Close())
		require.Equal(t, "theirs", g.get("other"))
		require.Equal(t, 1, g.count())
	})
}

// A call that its caller gave up may still write, so a cleanup waits for its end.
func TestCleanupWaitsForWhatWasGivenUp(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	r := newKeyRecord("p", nil)
	r.ended(t.Context())
	_, err := r.delete(done)
	require.NoError(t, err)
	r.ended(done)
	_, err = r.delete(done)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRememberedKeysGo(t *testing.T) {
	addr := servertest.Memcached(t).Addr
	g := memcacheGuest(t, addr, "memcache://"+addr)
	b := open(t, g.url, nil)
	ours := b.NewPrefix() + "/from/another/process"
	g.put(ours, "1")
	g.put("other", "theirs")
	b.Remember(ours, "other")
	removed, err := b.Cleanup(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, removed)
	require.Empty(t, g.get(ours))
	require.Equal(t, "theirs", g.get("other"))
}

func TestGuardMemory(t *testing.T) {
	eachGuest(t, func(t *testing.T, g guest) {
		b := open(t, g.url, &Options{MemoryCap: 4 << 20})
		require.NoError(t, b.GuardMemory(t.Context()))
		for i := range 10 {
			g.put(fmt.Sprint("big", i), strings.Repeat("x", 700<<10))
		}
		err := b.GuardMemory(t.Context())
		require.ErrorContains(t, err, "want at most 4 MiB on a server that others use")
		require.ErrorContains(t, err, g.url)

		later := open(t, g.url, &Options{MemoryCap: 4 << 20})
		require.NoError(t, later.GuardMemory(t.Context()), "what was there before does not count")
	})
}
