package bench_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/backend"
)

// eachStore runs a benchmark on memory and on each server that is installed, which is started once.
func eachStore(b *testing.B, run func(b *testing.B, on *backend.Backend)) {
	for _, url := range []string{"memory:", "redis:private", "memcache:private"} {
		b.Run("store="+url[:strings.IndexByte(url, ':')], func(b *testing.B) {
			on, err := backend.Open(b.Context(), url, &backend.Options{Callers: 64})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, on.Close()) })
			if on.StandIn != "" {
				b.Skipf("%s stands in for the server", on.StandIn)
			}
			run(b, on)
		})
	}
}

// BenchmarkTake is an admitted decision on one of 4096 keys, by so many callers at once; its time is what
// each of them adds, not how long one waits. That each was admitted, and that as many keys as there can
// be were touched, is proved.
func BenchmarkTake(b *testing.B) {
	keys := make([]string, 4096)
	for i := range keys {
		keys[i] = fmt.Sprintf("client-%09d", i)
	}
	eachStore(b, func(b *testing.B, on *backend.Backend) {
		for _, a := range algorithms.All() {
			l, err := weir.New(a, weir.Limit{Count: 1_000_000, Window: time.Second}, on.Store, &weir.Options{Prefix: on.NewPrefix()})
			if err != nil {
				require.ErrorIs(b, err, errors.ErrUnsupported)
				continue
			}
			for _, callers := range []int{1, 64} {
				b.Run(fmt.Sprintf("algorithm=%s/callers=%d", a, callers), func(b *testing.B) {
					b.ReportAllocs()
					takeAll(b, l, keys, callers)
				})
			}
		}
	})
}

func takeAll(b *testing.B, l *weir.Weir, keys []string, callers int) {
	touched := make([]atomic.Bool, len(keys))
	var next atomic.Int64
	b.ResetTimer()
	group, ctx := errgroup.WithContext(context.Background())
	for range callers {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				k := i % int64(len(keys))
				d, err := l.Take(ctx, keys[k], 1)
				if err != nil {
					return err
				}
				if !d.Allowed {
					return fmt.Errorf("decision %d of %d was a denial", i+1, b.N)
				}
				touched[k].Store(true)
			}
			return nil
		})
	}
	require.NoError(b, group.Wait())
	b.StopTimer()
	distinct := 0
	for i := range touched {
		if touched[i].Load() {
			distinct++
		}
	}
	require.Equal(b, min(b.N, len(keys)), distinct)
}

// BenchmarkMemory is what a key costs after so many admitted events in one window.
func BenchmarkMemory(b *testing.B) {
	eachStore(b, func(b *testing.B, on *backend.Backend) {
		for _, a := range algorithms.All() {
			if _, err := weir.New(a, weir.Limit{Count: 10, Window: time.Second}, on.Store, nil); err != nil {
				continue
			}
			for _, events := range bench.DefaultEvents() {
				b.Run(fmt.Sprintf("algorithm=%s/events=%d", a, events), func(b *testing.B) {
					var sum float64
					for range b.N {
						r, err := bench.Compare(b.Context(), bench.Config{
							Algorithms: []weir.Algorithm{a}, Backends: []*backend.Backend{on}, Limit: weir.Limit{Count: 10, Window: time.Second},
							Scenarios: []bench.Scenario{}, Events: []int64{events}, Callers: []int{},
						}, nil)
						require.NoError(b, err)
						require.Empty(b, r.Incomplete)
						m := r.Results[0].Memory[0]
						if m.NA != "" {
							b.Skip(m.NA)
						}
						sum += m.BytesPerKey
					}
					b.ReportMetric(sum/float64(b.N), "B/key")
					b.ReportMetric(0, "ns/op") // of the measuring: it says nothing
				})
			}
		}
	})
}
