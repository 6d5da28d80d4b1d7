package server_test

import (
	"net"
	"slices"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// A cluster is whole when it is handed out, on every node, and gone after Stop.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := servertest.Cluster(t, 3, 1)
	require.Len(t, c.Masters, 3)
	require.Len(t, c.Replicas, 3)
	for _, s := range c.Nodes() {
		node := client(t, s)
		shards, err := node.ClusterShards(t.Context()).Result()
		require.NoError(t, err)
		require.Len(t, shards, 3)
		slices.SortFunc(shards, func(a, b goredis.ClusterShard) int { return int(a.Slots[0].Start - b.Slots[0].Start) })
		for i, shard := range shards {
			require.Len(t, shard.Nodes, 2)
			for _, n := range shard.Nodes {
				want := c.Masters[i]
				if n.Role == "replica" {
					want = c.Replicas[i]
				}
				require.EqualValues(t, want.Port, n.Port)
			}
		}
	}
	for i, s := range c.Replicas {
		role, err := client(t, s).Do(t.Context(), "role").Slice()
		require.NoError(t, err)
		require.Equal(t, []any{"slave", "127.0.0.1", int64(c.Masters[i].Port), "connected"}, role[:4])
	}
	require.NoError(t, c.Stop())
	gone(t, c.Nodes())
}

// Three Sentinels agree on the primary when they are handed out, and are gone after Stop.
func TestSentinel(t *testing.T) {
	t.Parallel()
	s := servertest.Sentinel(t, 1)
	require.Len(t, s.Watchers, 3)
	for _, w := range s.Watchers {
		reply, err := client(t, w).Do(t.Context(), "sentinel", "ckquorum", server.PrimaryName).Text()
		require.NoError(t, err)
		require.Contains(t, reply, "OK 3 usable Sentinels")
	}
	role, err := client(t, s.Replicas[0]).Do(t.Context(), "role").Slice()
	require.NoError(t, err)
	require.Equal(t, []any{"slave", "127.0.0.1", int64(s.Primary.Port), "connected"}, role[:4])
	require.NoError(t, s.Stop())
	gone(t, append(append(s.Watchers, s.Replicas...), s.Primary))
}

func TestTogetherRefuses(t *testing.T) {
	_, err := server.StartCluster(t.Context(), 0, 1)
	require.ErrorContains(t, err, "server: a cluster of 0 masters with 1 replicas each: want at least one")
	_, err = server.StartSentinel(t.Context(), -1)
	require.ErrorContains(t, err, "server: a primary with -1 replicas: want none or more")
}

func client(t *testing.T, s *server.Server) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func gone(t *testing.T, servers []*server.Server) {
	for _, s := range servers {
		_, err := net.Dial("tcp", s.Addr)
		require.Error(t, err)
	}
}
