package redis_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/redis"
)

// backend is a server and a store on it. mini is nil on a real one.
type backend struct {
	*redis.Store
	client *goredis.Client // beside the store, to look and to meddle
	mini   *miniredis.Miniredis
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 123_456_000, time.UTC)

// onEach runs f on the stand-in, whose time stands still at start, and on real Redis.
func onEach(t *testing.T, f func(t *testing.T, b backend)) {
	t.Run("miniredis", func(t *testing.T) { f(t, onMini(t)) })
	onReal(t, f)
}

func onReal(t *testing.T, f func(t *testing.T, b backend)) {
	t.Run("redis", func(t *testing.T) { f(t, open(t, servertest.Redis(t).Addr)) })
}

func onMini(t *testing.T) backend {
	mini := miniredis.RunT(t)
	mini.SetTime(start)
	b := open(t, mini.Addr())
	b.mini = mini
	return b
}

func open(t *testing.T, addr string) backend {
	st, err := redis.Open("redis://"+addr, nil)
	require.NoError(t, err)
	client := goredis.NewClient(&goredis.Options{Addr: addr})
	t.Cleanup(func() {
		require.NoError(t, st.Close())
		require.NoError(t, client.Close())
	})
	return backend{Store: st, client: client}
}

// lives asserts that the key's remaining life is what a TTL just set leaves.
func (b backend) lives(t *testing.T, key string, ttl time.Duration) {
	t.Helper()
	left, err := b.client.PTTL(t.Context(), key).Result()
	require.NoError(t, err)
	require.Positive(t, left)
	require.LessOrEqual(t, left, ttl+2*time.Millisecond)
	if b.mini != nil {
		require.GreaterOrEqual(t, left, ttl, "a TTL is a floor")
	}
}

// gone ends a key's life, by time where time can be moved.
func (b backend) gone(t *testing.T, ttl time.Duration, keys ...string) {
	t.Helper()
	if b.mini != nil {
		b.mini.FastForward(ttl + 2*time.Millisecond)
	} else {
		for _, key := range keys {
			require.NoError(t, b.client.PExpire(t.Context(), key, -time.Millisecond).Err())
		}
	}
	n, err := b.client.Exists(t.Context(), keys...).Result()
	require.NoError(t, err)
	require.Zero(t, n)
}

// odd are keys that a careless store would mix up or refuse.
var odd = []string{"", " ", "a b", "\x00\xff\r\n", "{x}", "x", "{x}{y}", "}{", "café"}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
