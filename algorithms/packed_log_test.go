package algorithms_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/store/memory"
)

// Long logs, whose values are wide: cut into segments, grown, rewritten and shrunk.
func TestPackedLogIsExactAtAnyLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if rapid.IntRange(0, 4).Draw(t, "one in five: each is long") != 0 {
			return
		}
		l := weir.Limit{Count: rapid.Int64Range(2000, 20_000).Draw(t, "limit"), Window: time.Minute}
		clock := &simClock{us: epoch}
		st := memory.New(&memory.Options{Clock: clock.Now})
		defer func() { require.NoError(t, st.Close()) }()
		limiter, err := weir.New(algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond}), l, st, nil)
		require.NoError(t, err)
		reference := oracle.NewLog(l.Count, l.Window.Microseconds())
		for range rapid.IntRange(1, 6).Draw(t, "phases") {
			gap := rapid.SampledFrom([]int64{0, 1, 5, 127, 128, 3000, 6000, 20_000, 70_000_000}).Draw(t, "gap")
			cost := rapid.SampledFrom([]int64{1, 1, 1, 2, 130, 700, 2000}).Draw(t, "cost")
			for range rapid.IntRange(1, 3000).Draw(t, "events") {
				clock.us += gap
				d, err := limiter.Take(context.Background(), "k", cost)
				require.NoError(t, err)
				require.Equal(t, reference.Take(clock.us, cost), verdict(d), "at %d, cost %d", clock.us, cost)
			}
		}
	})
}

// With a coarser tick or blocks the log never admits more, and denies too early only
// within what it declares.
func TestPackedLogErrsWithinItsGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := weir.Limit{
			Count:  rapid.Int64Range(1, 300).Draw(t, "limit"),
			Window: time.Duration(rapid.Int64Range(1000, 5000).Draw(t, "window")) * time.Microsecond,
		}
		a := algorithms.PackedLog(&algorithms.PackedLogOptions{
			Tick:  time.Duration(rapid.Int64Range(1, 40).Draw(t, "tick")) * time.Microsecond,
			Block: rapid.Int64Range(1, l.Count).Draw(t, "block"),
		})
		clock := &simClock{us: epoch}
		st := memory.New(&memory.Options{Clock: clock.Now})
		defer func() { require.NoError(t, st.Close()) }()
		limiter, err := weir.New(a, l, st, nil)
		require.NoError(t, err)
		shape, err := a.Shape(l)
		require.NoError(t, err)
		judge := oracle.NewJudge(l.Count, l.Window.Microseconds())
		for range rapid.IntRange(1, 400).Draw(t, "events") {
			clock.us += rapid.Int64Range(0, 60).Draw(t, "gap")
			cost := rapid.Int64Range(0, 3).Draw(t, "cost")
			d, err := limiter.Take(context.Background(), "k", cost)
			require.NoError(t, err)
			judge.Observe("k", oracle.Observation{
				Time: clock.us, Cost: cost, Allowed: d.Allowed, RetryAfter: verdict(d).RetryAfter,
			})
			if !d.Allowed && d.RetryAfter != weir.Never {
				// Denied just before, admitted at that instant.
				clock.us += d.RetryAfter.Microseconds() - 1
				early, err := limiter.Take(context.Background(), "k", cost)
				require.NoError(t, err)
				require.False(t, early.Allowed)
				require.Equal(t, time.Microsecond, early.RetryAfter)
				clock.us++
				then, err := limiter.Take(context.Background(), "k", cost)
				require.NoError(t, err)
				require.True(t, then.Allowed)
				judge.Observe("k", oracle.Observation{Time: clock.us, Cost: cost, Allowed: true})
			}
		}
		report := judge.Report()
		require.LessOrEqual(t, report.MaxInWindow, shape.Guarantee.MaxInWindow)
		require.Zero(t, report.OverAdmitted)
		require.LessOrEqual(t, report.MaxDeficit, shape.Guarantee.Deficit)
	})
}
