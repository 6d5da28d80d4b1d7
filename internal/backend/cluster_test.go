package backend

import (
	"context"
	"net"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// clusterOfOne starts a cluster of a single primary and returns its address.
func clusterOfOne(t *testing.T) string {
	t.Helper()
	s, err := server.StartRedis(context.Background(), &server.RedisOptions{
		Args: []string{"--cluster-enabled", "yes", "--cluster-port", freePort(t)},
	})
	addr := servertest.Adopt(t, s, err).Addr
	c := goredis.NewClient(&goredis.Options{Addr: addr})
	defer func() { require.NoError(t, c.Close()) }()
	require.NoError(t, c.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	require.Eventually(t, func() bool {
		return c.Set(t.Context(), "probe", "", 0).Err() == nil && c.Del(t.Context(), "probe").Err() == nil
	}, 20*time.Second, 20*time.Millisecond, "the cluster does not come up")
	return addr
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}
