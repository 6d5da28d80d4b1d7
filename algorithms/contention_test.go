package algorithms_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memcache/memcachetest"
)

// One hot key and 256 callers in one process: compare-and-swap admits exactly the limit,
// and nobody gives up. Time stands still, so that nothing refills.
func TestManyCallersOfOneKey(t *testing.T) {
	const callers, each, limit = 256, 6, 1000
	for name, start := range map[string]func(*testing.T) string{
		"memcachetest": func(t *testing.T) string {
			server, err := memcachetest.Start(nil)
			require.NoError(t, err)
			t.Cleanup(func() { _ = server.Close() })
			return server.Addr()
		},
		"memcached": func(t *testing.T) string { return servertest.Memcached(t).Addr },
	} {
		t.Run(name, func(t *testing.T) {
			// However busy the machine is, no reply is late: the subject is the contention.
			st, err := memcache.Open([]string{start(t)}, &memcache.Options{Timeout: time.Minute, MaxIdleConns: callers})
			require.NoError(t, err)
			defer func() { require.NoError(t, st.Close()) }()
			for _, a := range append(algorithms.All(),
				algorithms.PackedLog(&algorithms.PackedLogOptions{Error: 0.125}),
				caged(t, algorithms.PackedLog(nil), "1000/1s"),
			) {
				l, err := weir.New(a, weir.Limit{Count: limit, Window: time.Hour}, st, &weir.Options{
					Clock: func() time.Time { return time.UnixMicro(epoch) }, Prefix: storetest.Prefix(t),
				})
				if err != nil || l.Plan().Needs != store.CapSwap {
					t.Logf("not by compare-and-swap: %s", a)
					continue
				}
				t.Run(a.String(), func(t *testing.T) {
					// Variants of one algorithm read each other's state.
					defer func() { require.NoError(t, l.Reset(context.Background(), "hot")) }()
					var admitted, denied atomic.Int64
					var group sync.WaitGroup
					for range callers {
						group.Go(func() {
							for range each {
								d, err := l.Take(context.Background(), "hot", 1)
								switch {
								case err != nil:
									t.Errorf("after %d decisions: %v", admitted.Load()+denied.Load(), err)
									return
								case d.Allowed:
									admitted.Add(1)
								default:
									denied.Add(1)
								}
							}
						})
					}
					group.Wait()
					require.EqualValues(t, limit, admitted.Load())
					require.EqualValues(t, callers*each-limit, denied.Load())
				})
			}
		})
	}
}
