package backend

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
)

func open(t *testing.T, url string, opts *Options) *Backend {
	t.Helper()
	b, err := Open(t.Context(), url, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// limiter allows 3 in a window whose end, aligned to the epoch, no test will meet.
func limiter(t *testing.T, b *Backend, a weir.Algorithm, prefix string) *weir.Weir {
	t.Helper()
	w, err := weir.New(a, weir.Limit{Count: 3, Window: 300 * 24 * time.Hour}, b.Store, &weir.Options{Prefix: prefix})
	require.NoError(t, err)
	return w
}

// takeFive admits three of five.
func takeFive(t *testing.T, w *weir.Weir, key string) {
	t.Helper()
	for i := range 5 {
		d, err := w.Take(t.Context(), key, 1)
		require.NoError(t, err)
		require.Equal(t, i < 3, d.Allowed, "request %d", i)
	}
}

func TestMemory(t *testing.T) {
	b := open(t, "memory:", nil)
	require.Equal(t, "memory:", b.Name)
	require.Contains(t, b.Server, "this process (go")
	require.False(t, b.Shared)
	require.Empty(t, b.Addr)
	takeFive(t, limiter(t, b, algorithms.GCRA(nil), b.NewPrefix()), "k")

	_, err := b.Calls(t.Context())
	require.ErrorIs(t, err, ErrNotCounted)
	used, err := b.UsedMemory(t.Context())
	require.NoError(t, err)
	require.Positive(t, used)
	most, err := b.MaxMemory(t.Context())
	require.NoError(t, err)
	require.Zero(t, most)
	_, err = b.At("127.0.0.1:1")
	require.ErrorContains(t, err, "exactly one server")
	require.NoError(t, b.GuardMemory(t.Context()))
}

// installed skips the test where the private server would be a stand-in.
func installed(t *testing.T, start func(context.Context) (*server.Server, error)) {
	t.Helper()
	s, err := start(context.Background())
	require.NoError(t, servertest.Adopt(t, s, err).Stop())
}

func TestPrivateServers(t *testing.T) {
	for _, c := range []struct {
		url, kind, server string
		start             func(context.Context) (*server.Server, error)
		most              int64
	}{
		{"redis:private", KindRedis, "Redis ", startRedis, 2 << 30},
		{"memcache:private", KindMemcache, "memcached 1", startMemcached, 1 << 30},
		{"memcache+counter:private", KindMemcache, "memcached 1", startMemcached, 1 << 30},
	} {
		t.Run(c.url, func(t *testing.T) {
			installed(t, c.start)
			ctx, opened := context.WithCancel(t.Context())
			b, err := Open(ctx, c.url, &Options{Callers: 200})
			require.NoError(t, err)
			opened() // the context bounds the opening alone
			require.Equal(t, c.url, b.Name)
			require.Equal(t, c.kind, b.Kind)
			require.Contains(t, b.Server, c.server)
			require.Empty(t, b.StandIn)
			require.Empty(t, b.Notes)
			require.False(t, b.Shared)
			require.NotEmpty(t, b.Addr)
			require.Equal(t, store.Implemented(b.Store), b.Store.Traits().Capabilities)
			if c.kind == KindRedis {
				require.False(t, b.Store.Traits().Evicts)
			}
			most, err := b.MaxMemory(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.most, most)

			takeFive(t, limiter(t, b, algorithms.FixedWindow(), b.NewPrefix()), "k")
			used, err := b.UsedMemory(t.Context())
			require.NoError(t, err)
			require.Positive(t, used)
			removed, err := b.Cleanup(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, removed)

			url, err := b.At(b.Addr)
			require.NoError(t, err)
			other := open(t, url, nil)
			require.True(t, other.Shared)
			require.Equal(t, b.Store.Traits().Capabilities, other.Store.Traits().Capabilities)
			require.NoError(t, other.Close())

			require.NoError(t, b.Close())
			require.NoError(t, b.Close())
			_, err = net.Dial("tcp", b.Addr)
			require.Error(t, err, "the server must be gone")
		})
	}
}

func TestStandIns(t *testing.T) {
	for _, c := range []struct{ url, standIn, note string }{
		{"redis:private", "miniredis", "redis-server is not on PATH: using miniredis, whose speed and bytes mean nothing (Debian: apt-get install redis-server)"},
		{"memcache:private", "in-process memcached", "memcached is not on PATH: using an in-process memcached, whose speed and bytes mean nothing (Debian: apt-get install memcached)"},
		{"memcache+counter:private", "in-process memcached", "memcached is not on PATH: using an in-process memcached, whose speed and bytes mean nothing (Debian: apt-get install memcached)"},
	} {
		t.Run(c.url, func(t *testing.T) {
			t.Setenv("PATH", "")
			b := open(t, c.url, nil)
			require.Equal(t, c.standIn, b.StandIn)
			require.Equal(t, c.standIn, b.Server)
			require.Equal(t, []string{c.note}, b.Notes)
			require.False(t, b.Shared)
			require.Equal(t, store.Implemented(b.Store), b.Store.Traits().Capabilities)

			takeFive(t, limiter(t, b, algorithms.FixedWindow(), b.NewPrefix()), "k")
			removed, err := b.Cleanup(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, removed)

			_, err = b.Calls(t.Context())
			require.ErrorIs(t, err, ErrNotCounted)
			_, err = b.UsedMemory(t.Context())
			require.ErrorIs(t, err, ErrNotCounted)
			_, err = b.MaxMemory(t.Context())
			require.ErrorIs(t, err, ErrNotCounted)
		})
	}
}

func TestMiniredisAges(t *testing.T) {
	t.Setenv("PATH", "")
	b := open(t, "redis:private", nil)
	counter := b.Store.(store.Counter)
	_, err := counter.Add(t.Context(), "k", 1, time.Millisecond)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		counts, err := counter.Read(t.Context(), "k")
		return err == nil && counts[0] == 0
	}, 10*time.Second, 20*time.Millisecond)
}

func TestOpenEndsWithItsContext(t *testing.T) {
	for _, url := range []string{"memory:", "redis:private", "memcache:private", "redis://127.0.0.1:1", "memcache://127.0.0.1:1"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := Open(ctx, url, nil)
		require.ErrorIs(t, err, context.Canceled, url)
		require.NotErrorIs(t, err, ErrUnreachable, url)
	}
}
