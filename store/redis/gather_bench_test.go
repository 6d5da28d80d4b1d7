package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	goredis "github.com/redis/go-redis/v9"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// BenchmarkCallers is callers who each ask again when they have their answer, over 10,000
// keys, none of them denied: decisions/call, by the server's own count, says how many shared a
// script.
func BenchmarkCallers(b *testing.B) {
	addr := servertest.Redis(b).Addr
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("client-%d", i)
	}
	for _, a := range []weir.Algorithm{algorithms.GCRA(nil), algorithms.FixedWindow(), algorithms.SlidingCounter(), algorithms.SlidingLog(), algorithms.PackedLog(nil)} {
		for _, callers := range []int{1, 64, 512, 2048} {
			for _, gathered := range []bool{true, false} {
				b.Run(fmt.Sprintf("algorithm=%s/callers=%d/gathered=%t", a, callers, gathered), func(b *testing.B) {
					opts := &Options{}
					if !gathered {
						opts.MaxBatch = 1
					}
					st, err := Open(fmt.Sprintf("redis://%s?pool_size=%d", addr, max(minPool, callers)), opts)
					require.NoError(b, err)
					defer st.Close()
					limiter, err := weir.New(a, weir.Limit{Count: 1_000_000, Window: time.Minute}, st, nil)
					require.NoError(b, err)
					_, err = limiter.Peek(b.Context(), "")
					require.NoError(b, err)

					before := evaluations(b, st.client)
					b.ReportAllocs()
					b.ResetTimer()
					var next atomic.Int64
					var group sync.WaitGroup
					for range callers {
						group.Go(func() {
							for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
								d, err := limiter.Take(context.Background(), keys[i%int64(len(keys))], 1)
								if err != nil || !d.Allowed {
									b.Error(d, err)
								}
							}
						})
					}
					group.Wait()
					b.StopTimer()
					b.ReportMetric(float64(b.N)/(evaluations(b, st.client)-before), "decisions/call")
				})
			}
		}
	}
}

// evaluations is how many scripts the server has run.
func evaluations(tb testing.TB, client goredis.UniversalClient) float64 {
	calls, _ := scriptStats(tb, client)
	return calls
}
