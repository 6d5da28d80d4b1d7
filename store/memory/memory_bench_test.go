package memory_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

func BenchmarkTake(b *testing.B) {
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = "client-" + strconv.Itoa(i)
	}
	for _, a := range algorithms.All() {
		b.Run("algorithm="+a.Name(), func(b *testing.B) {
			st := memory.New(nil)
			defer st.Close()
			l, err := weir.New(a, weir.Limit{Count: 100, Window: time.Second}, st, nil)
			require.NoError(b, err)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if _, err := l.Take(context.Background(), keys[i%len(keys)], 1); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
