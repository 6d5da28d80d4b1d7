package algorithms_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// Long logs, whose values are wide: cut into segments, grown, rewritten and shrunk. The
// sorted-set log is the reference: it is held to the exact model, and fast.
func TestPackedLogIsExactAtAnyLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := weir.Limit{Count: rapid.Int64Range(1000, 20_000).Draw(t, "limit"), Window: time.Minute}
		clock := newSimClock(epoch)
		st := memory.New(&memory.Options{Clock: clock.Now})
		defer func() { require.NoError(t, st.Close()) }()
		limiter, err := weir.New(algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond}), l, st, nil)
		require.NoError(t, err)
		reference, err := weir.New(algorithms.SlidingLog(), l, st, nil)
		require.NoError(t, err)
		for range rapid.IntRange(1, 8).Draw(t, "phases") {
			gap := rapid.SampledFrom([]int64{0, 1, 5, 127, 128, 3000, 6000, 20_000, 70_000_000}).Draw(t, "gap")
			cost := rapid.SampledFrom([]int64{1, 1, 1, 2, 130, 700}).Draw(t, "cost")
			for range rapid.IntRange(1, 3000).Draw(t, "events") {
				clock.us.Add(gap)
				want, err := reference.Take(context.Background(), "k", cost)
				require.NoError(t, err)
				got, err := limiter.Take(context.Background(), "k", cost)
				require.NoError(t, err)
				if want != got {
					require.Equal(t, want, got, "at %d, cost %d", clock.us.Load(), cost)
				}
			}
		}
	})
}
