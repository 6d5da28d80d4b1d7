package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// BenchmarkTake decides by every algorithm, over one key, some, and many; -cpu sets the
// callers. All is admitted. Keys came in another order than they are asked for, so that a
// decision finds its key anywhere.
func BenchmarkTake(b *testing.B) {
	for _, a := range algorithms.All() {
		for _, keys := range []int{1, 10_000, 1_000_000} {
			if keys > 10_000 && a.Name() != "fixed-window" && a.Name() != "gcra" && a.Name() != "sliding-counter" {
				continue
			}
			b.Run(fmt.Sprintf("algorithm=%s/keys=%d", a.Name(), keys), func(b *testing.B) {
				benchmarkTake(b, a, keys, &memory.Options{})
			})
		}
	}
}

// BenchmarkCompact is what [memory.Options].Compact costs and saves.
func BenchmarkCompact(b *testing.B) {
	for _, compact := range []bool{false, true} {
		b.Run(fmt.Sprintf("compact=%t/keys=1000000", compact), func(b *testing.B) {
			benchmarkTake(b, algorithms.GCRA(nil), 1_000_000, &memory.Options{Compact: compact})
		})
	}
}

func benchmarkTake(b *testing.B, a weir.Algorithm, keys int, o *memory.Options) {
	st := memory.New(o)
	defer st.Close()
	// So rare that no key expires meanwhile, so many that none is denied.
	limit := weir.Limit{Count: 1_000_000, Window: 10 * 365 * 24 * time.Hour}
	if keys == 1 {
		limit = weir.Limit{Count: weir.MaxCount, Window: time.Hour}
	}
	if a.Name() == "sliding-log" || a.Name() == "ring-log" || a.Name() == "packed-log" {
		limit = weir.Limit{Count: 100, Window: time.Millisecond} // they keep what they admit
	}
	l, err := weir.New(a, limit, st, nil)
	require.NoError(b, err)
	names := make([]string, keys)
	for i := range names {
		names[i] = "client-" + strconv.Itoa(i)
	}
	before, text := heap(), 0
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(keys) {
		_, err := l.Take(context.Background(), names[i], 1)
		require.NoError(b, err)
		text += len(names[i])
	}
	beyond := float64(heap()-before-int64(text)) / float64(keys)
	var callers atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		at := int(callers.Add(1)-1) * keys / 7
		for ; pb.Next(); at++ {
			if _, err := l.Take(context.Background(), names[at%keys], 1); err != nil {
				b.Error(err)
				return
			}
		}
	})
	if keys > 1 {
		b.ReportMetric(beyond, "B/key")
	}
}
