// Package servertest gives a test a real server of its own.
//
// Without the program on PATH the test is skipped, and says what that leaves uncovered;
// with WEIR_REQUIRE_SERVERS=1 in the environment it fails instead.
package servertest

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/weirlimits/weir/internal/server"
)

// Redis starts a redis-server that is stopped when t ends.
func Redis(t testing.TB) *server.Server {
	t.Helper()
	s, err := server.StartRedis(context.Background(), nil)
	return Adopt(t, s, err)
}

// Memcached starts a memcached that is stopped when t ends.
func Memcached(t testing.TB) *server.Server {
	t.Helper()
	s, err := server.StartMemcached(context.Background(), nil)
	return Adopt(t, s, err)
}

// Cluster starts a Redis Cluster of so many masters with so many replicas each, which is stopped when t ends.
func Cluster(t testing.TB, masters, replicas int) *server.Cluster {
	t.Helper()
	c, err := server.StartCluster(context.Background(), masters, replicas)
	return Adopt(t, c, err)
}

// Sentinel starts a primary, so many replicas and three Sentinels, which are stopped when t ends.
func Sentinel(t testing.TB, replicas int) *server.Sentinel {
	t.Helper()
	s, err := server.StartSentinel(context.Background(), replicas)
	return Adopt(t, s, err)
}

// Adopt takes what a function of package server that starts something returned: it is stopped when t ends, a
// missing program skips or fails t, any other error fails it. What cleanups still need must not be started
// under t.Context, which ends before they run.
func Adopt[S interface{ Stop() error }](t testing.TB, s S, err error) S {
	t.Helper()
	switch {
	case errors.Is(err, server.ErrNotInstalled) && os.Getenv("WEIR_REQUIRE_SERVERS") != "1":
		t.Skipf("not covered here: %s against a real server: %v", t.Name(), err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}
