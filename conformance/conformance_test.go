package conformance_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/conformance"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

func TestStores(t *testing.T) {
	for _, one := range []struct {
		name string
		open func(testing.TB) store.Store
	}{
		{"memory", storetest.Memory},
		{"redis", storetest.Redis},
		{"memcachetest", storetest.Memcachetest},
		{"memcached", storetest.Memcached},
		{"counter", storetest.MemcachedCounter},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, conformance.Config{
				Open: func(context.Context) (store.Store, error) { return one.open(t), nil },
			})
		})
	}
}

// miniTime is the time in which miniredis lets keys expire.
type miniTime struct {
	mini *miniredis.Miniredis
	past atomic.Int64
}

func (m *miniTime) Now() time.Time { return time.Unix(0, m.past.Load()) }

func (m *miniTime) Sleep(ctx context.Context, d time.Duration) error {
	m.mini.FastForward(d)
	m.past.Add(int64(d))
	return ctx.Err()
}

func TestMiniredis(t *testing.T) {
	t.Parallel()
	clock := &miniTime{mini: miniredis.RunT(t)}
	conformance.Run(t, conformance.Config{
		Open: func(context.Context) (store.Store, error) {
			return redis.Open("redis://"+clock.mini.Addr(), nil)
		},
		Algorithms: []weir.Algorithm{ // one for each kind of script, as it is slow
			algorithms.FixedWindow(), algorithms.GCRA(nil), algorithms.SlidingLog(), algorithms.RingLog(nil),
		},
		Time: clock,
		Skip: map[string]string{"footprint": "miniredis invents its MEMORY USAGE"},
	})
	require.Empty(t, clock.mini.Keys(), "the suite left keys behind")
}
