package algorithms_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// RL-031, RL-032: one hot key and 256 callers in one process: compare-and-swap admits exactly the
// limit, and nobody gives up. Time stands still, so that nothing refills.
func TestRL031RL032ManyCallersOfOneKey(t *testing.T) {
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

// RL-030, RL-031: callers that meet on a key that nobody has used yet: exactly the limit gets
// through, with every algorithm that memcached or its counter alone can run.
func TestRL030RL031ManyCallersOfANewKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st store.Store) {
		if st.Traits().Capabilities.Has(store.CapScript) {
			return // one script decides there
		}
		for _, a := range algorithms.Runnable(st) {
			l := newLimiter(t, a, "50/1h", st, &weir.Options{
				Clock: func() time.Time { return time.UnixMicro(epoch) }, Prefix: storetest.Prefix(t),
			})
			var admitted atomic.Int64
			var group sync.WaitGroup
			for range 200 {
				group.Go(func() {
					if d, err := l.Take(context.Background(), "new", 1); err != nil {
						t.Errorf("%s: %v", a, err)
					} else if d.Allowed {
						admitted.Add(1)
					}
				})
			}
			group.Wait()
			require.EqualValues(t, 50, admitted.Load(), a)
		}
	})
}

// RL-032: who always loses the swap is told so in the end, and is not let through.
func TestRL032WhoAlwaysLosesIsNotAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, algorithms.GCRA(nil), "1000/1s", losing{}, nil)
		d, err := l.Take(context.Background(), "k", 1)
		require.ErrorIs(t, err, store.ErrContended)
		require.False(t, d.Allowed)
	})
}

// losing is a store on which somebody else's swap always comes first.
type losing struct{}

func (losing) Traits() store.Traits {
	return store.Traits{Name: "losing", Capabilities: store.CapSwap, MaxTTL: 1 << 62, MaxKey: 250, MaxValue: 1 << 20}
}
func (losing) Close() error                            { return nil }
func (losing) Delete(context.Context, ...string) error { return nil }
func (losing) Load(context.Context, string) ([]byte, store.Version, error) {
	return nil, "", nil
}

func (losing) Swap(context.Context, string, store.Version, []byte, time.Duration) (bool, error) {
	return false, nil
}
