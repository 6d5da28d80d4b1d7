package redis_test

import (
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// RL-103: a thousand stores, opened, used and closed twice, leave no goroutine here and no connection there.
func TestRL103ClosedStoresLeaveNothing(t *testing.T) {
	addr := servertest.Redis(t).Addr
	client := goredis.NewClient(&goredis.Options{Addr: addr})
	defer func() { require.NoError(t, client.Close()) }()
	connected := func() int {
		_, tail, _ := strings.Cut(client.Info(t.Context(), "clients").Val(), "connected_clients:")
		n, err := strconv.Atoi(strings.Fields(tail)[0])
		require.NoError(t, err)
		return n
	}
	open := func() (store.Store, error) { return redis.Open("redis://"+addr, nil) }
	storetest.ClosedLeaveNothing(t, open, connected)
}
