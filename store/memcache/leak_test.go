package memcache_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
)

// RL-103: a thousand stores, opened, used and closed twice, leave no goroutine here and no connection there.
func TestRL103ClosedStoresLeaveNothing(t *testing.T) {
	addr := servertest.Memcached(t).Addr
	connected := func() int {
		for line := range strings.Lines(talkAll(t, addr, "stats")) {
			if n, ok := strings.CutPrefix(strings.TrimSpace(line), "STAT curr_connections "); ok {
				connections, err := strconv.Atoi(n)
				require.NoError(t, err)
				return connections
			}
		}
		require.Fail(t, "no curr_connections")
		return 0
	}
	connections, goroutines := connected(), runtime.NumGoroutine()
	for range 1000 {
		st, err := memcache.Open([]string{addr}, patient)
		require.NoError(t, err)
		l, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 5, Window: time.Hour}, st, nil)
		require.NoError(t, err)
		_, err = l.Take(context.Background(), "k", 1)
		require.NoError(t, err)
		require.NoError(t, st.Close())
		require.NoError(t, st.Close())
		_, err = l.Take(context.Background(), "k", 1)
		require.ErrorIs(t, err, store.ErrClosed)
	}
	require.Eventually(t, func() bool { return connected() <= connections }, 10*time.Second, 10*time.Millisecond)
	// One goroutine more is the one that asks here.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 }, 10*time.Second, 10*time.Millisecond)
}
