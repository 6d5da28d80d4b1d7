package memcache_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/internal/storetest"
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
	open := func() (store.Store, error) { return memcache.Open([]string{addr}, patient) }
	storetest.ClosedLeaveNothing(t, open, connected)
}
