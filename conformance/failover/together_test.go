// Package failover_test runs every algorithm on a Redis Cluster and on a primary that Sentinels watch, kills a
// master there, and holds what was admitted against the bounds.
package failover_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// together are servers that replace one of theirs which fails.
type together struct {
	url     string
	masters []*server.Server // the first is the one to kill
	heirs   []*server.Server // replicas of the masters, in their order
}

// onBoth runs f on a cluster and on a primary that Sentinels watch.
func onBoth(t *testing.T, f func(t *testing.T, s *together)) {
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		c := servertest.Cluster(t, 3, 1)
		f(t, &together{url: c.URL(), masters: c.Masters, heirs: c.Replicas})
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		s := servertest.Sentinel(t, 1)
		f(t, &together{url: s.URL(), masters: []*server.Server{s.Primary}, heirs: s.Replicas})
	})
}

func (s *together) open(t *testing.T) store.Store {
	st, err := redis.Open(s.url, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// struck tells whether the first master has the key, which is named in full.
func (s *together) struck(t *testing.T, key string) bool {
	if len(s.masters) == 1 {
		return true
	}
	return slot(t, s.masters[1], key) < 16384/len(s.masters)
}

// slot asks a node of a cluster.
func slot(t *testing.T, node *server.Server, key string) int {
	n, err := client(t, node).ClusterKeySlot(t.Context(), key).Result()
	require.NoError(t, err)
	return int(n)
}

// replicated waits until every replica has acknowledged all that its master wrote.
func (s *together) replicated(t *testing.T) {
	for i, master := range s.masters {
		require.Eventually(t, func() bool {
			wrote, _ := strconv.Atoi(replication(t, master)["master_repl_offset"])
			has, err := strconv.Atoi(replication(t, s.heirs[i])["slave_repl_offset"])
			return err == nil && wrote > 0 && has == wrote
		}, 20*time.Second, 10*time.Millisecond)
	}
}

func replication(t *testing.T, s *server.Server) map[string]string {
	text, err := client(t, s).Info(context.Background(), "replication").Result()
	require.NoError(t, err)
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	return fields
}

func client(t *testing.T, s *server.Server) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ages is a window that ends in no test, wherever it begins.
const ages = 1000 * 24 * time.Hour

func limiter(t *testing.T, a weir.Algorithm, l weir.Limit, st store.Store, clock func() time.Time) *weir.Weir {
	w, err := weir.New(a, l, st, &weir.Options{Prefix: "t", Clock: clock})
	require.NoError(t, err)
	return w
}
