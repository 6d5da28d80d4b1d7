// Package storetest gives a test every store there is: in process, the stand-ins,
// and real servers where they are installed.
package storetest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memcache/memcachetest"
	"github.com/weirlimits/weir/store/memory"
	"github.com/weirlimits/weir/store/redis"
)

// Memory returns a store in this process.
func Memory(t testing.TB) store.Store {
	return closed(t, memory.New(nil), nil)
}

// Miniredis returns a Redis store on the stand-in.
func Miniredis(t testing.TB) store.Store {
	st, err := redis.Open("redis://"+miniredis.RunT(t).Addr(), nil)
	return closed(t, st, err)
}

// Redis returns a Redis store on a real server of the test's own.
func Redis(t testing.TB) store.Store {
	st, err := redis.Open("redis://"+servertest.Redis(t).Addr, nil)
	return closed(t, st, err)
}

// Memcachetest returns a memcached store on the stand-in.
func Memcachetest(t testing.TB) store.Store {
	server, err := memcachetest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	st, err := memcache.Open([]string{server.Addr()}, nil)
	return closed(t, st, err)
}

// Memcached returns a memcached store on a real server of the test's own.
func Memcached(t testing.TB) store.Store {
	st, err := memcache.Open([]string{servertest.Memcached(t).Addr}, nil)
	return closed(t, st, err)
}

// MemcachedCounter returns a store with nothing but a counter, on the stand-in.
func MemcachedCounter(t testing.TB) store.Store {
	server, err := memcachetest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	st, err := memcache.Open([]string{server.Addr()}, nil)
	require.NoError(t, err)
	return closed(t, st.CounterOnly(), nil)
}

func closed[S store.Store](t testing.TB, st S, err error) store.Store {
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// Each runs fn on every store. A real server that is not installed skips its part and
// says so.
func Each(t *testing.T, fn func(t *testing.T, st store.Store)) {
	for _, one := range []struct {
		name string
		open func(testing.TB) store.Store
	}{
		{"memory", Memory},
		{"miniredis", Miniredis},
		{"redis", Redis},
		{"memcachetest", Memcachetest},
		{"memcached", Memcached},
		{"counter", MemcachedCounter},
	} {
		t.Run(one.name, func(t *testing.T) { fn(t, one.open(t)) })
	}
}

// Prefix returns a key prefix for the test: the same at each call within it, and not
// used by any other.
func Prefix(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune("/{}", r) {
			return r
		}
		return '_'
	}, t.Name())
	if len(name) > 40 {
		name = name[len(name)-40:]
	}
	return fmt.Sprintf("%s.%d.", name, os.Getpid())
}

// NoKeys fails the test if one of the keys exists. Only stores that can tell are asked.
func NoKeys(t testing.TB, st store.Store, keys []string) {
	t.Helper()
	if s, ok := st.(store.Swapper); ok {
		for _, key := range keys {
			_, version, err := s.Load(context.Background(), key)
			require.NoError(t, err)
			require.Empty(t, version, "%s exists", key)
		}
	}
}
