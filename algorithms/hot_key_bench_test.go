package algorithms_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/memcache"
)

// BenchmarkHotKey asks memcached for one key. With limiters=1 the callers share one limiter,
// so that those who ask at the same time are decided together; with limiters=callers each has
// its own, and all contend by compare-and-swap alone.
func BenchmarkHotKey(b *testing.B) {
	server := servertest.Memcached(b)
	for _, limit := range []string{"1000000000/1h", "1000/1h"} { // all admitted, most denied
		parsed, err := weir.ParseLimit(limit)
		require.NoError(b, err)
		for _, c := range []struct{ callers, limiters int }{{1, 1}, {256, 1}, {256, 256}} {
			b.Run(fmt.Sprintf("algorithm=gcra/limit=%d/callers=%d/limiters=%d", parsed.Count, c.callers, c.limiters), func(b *testing.B) {
				st, err := memcache.Open([]string{server.Addr}, &memcache.Options{Timeout: time.Minute, MaxIdleConns: c.callers})
				require.NoError(b, err)
				defer func() { require.NoError(b, st.Close()) }()
				limiters := make([]weir.Limiter, c.limiters)
				for i := range limiters {
					limiters[i], err = weir.New(algorithms.GCRA(nil), parsed, st, nil)
					require.NoError(b, err)
				}
				require.NoError(b, limiters[0].Reset(context.Background(), "hot"))
				inParallel(b, c.callers, func(caller int) error {
					_, err := limiters[caller%len(limiters)].Take(context.Background(), "hot", 1)
					return err
				})
			})
		}
	}
}

// BenchmarkCounter holds fixed-window on memcached against the client's bare Increment.
func BenchmarkCounter(b *testing.B) {
	const callers, keys = 64, 10_000
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("client-%d", i)
	}
	server := servertest.Memcached(b)
	b.Run(fmt.Sprintf("client=bare/callers=%d", callers), func(b *testing.B) {
		c := gomemcache.New(server.Addr)
		c.MaxIdleConns, c.Timeout = callers, time.Minute
		defer func() { require.NoError(b, c.Close()) }()
		for _, name := range names {
			require.NoError(b, c.Set(&gomemcache.Item{Key: name, Value: []byte("1"), Expiration: 3600}))
		}
		inParallel(b, callers, func(i int) error {
			_, err := c.Increment(names[i%keys], 1)
			return err
		})
	})
	b.Run(fmt.Sprintf("algorithm=fixed-window/callers=%d", callers), func(b *testing.B) {
		st, err := memcache.Open([]string{server.Addr}, &memcache.Options{Timeout: time.Minute, MaxIdleConns: callers})
		require.NoError(b, err)
		defer func() { require.NoError(b, st.Close()) }()
		l, err := weir.New(algorithms.FixedWindow(), weir.Limit{Count: 1_000_000_000, Window: 24 * time.Hour}, st, nil)
		require.NoError(b, err)
		for _, name := range names {
			_, err := l.Take(context.Background(), name, 1)
			require.NoError(b, err)
		}
		inParallel(b, callers, func(i int) error {
			d, err := l.Take(context.Background(), names[i%keys], 1)
			if err == nil && !d.Allowed {
				err = fmt.Errorf("denied: %v", d)
			}
			return err
		})
	})
}

// inParallel makes b.N calls from so many callers; each gets numbers of its own.
func inParallel(b *testing.B, callers int, call func(i int) error) {
	var group sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		group.Go(func() {
			for i := caller; i < b.N; i += callers {
				if err := call(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
