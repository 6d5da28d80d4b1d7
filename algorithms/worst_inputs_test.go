package algorithms_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/store/memory"
)

// The inputs that are hardest on a packed state, at a limit of 100,000: everything in one tick, a
// request as often as the limit refills, an idle window between. No window is ever over, no value longer than
// declared, nor than what its form makes sensible.
func TestWorstInputsForPackedStates(t *testing.T) {
	const limit = 40_000
	const window = 10 * time.Second
	const w = int64(window / time.Microsecond)
	inputs := []struct {
		name        string
		cost, total int64
		gap         func(i int64) int64 // microseconds before the i-th request
	}{
		{"one tick", 20, limit * 6 / 5, func(int64) int64 { return 0 }},
		{"one every W/L", 1, limit * 6 / 5, func(int64) int64 { return w / limit }},
		{"two every 2W/L", 2, limit * 6 / 5, func(int64) int64 { return 2 * w / limit }},
		{"an idle window between", 2, limit * 12 / 5, func(i int64) int64 {
			if i == limit*3/5 {
				return w
			}
			return i % 3 * w / (3 * limit)
		}},
	}
	for _, c := range []struct {
		algorithm weir.Algorithm
		perEvent  float64 // bytes per request in the window, at most
		fixed     int     // and bytes beside
	}{
		{algorithms.PackedLog(nil), 1.6, 200},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Block: 10}), 0.2, 200},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Error: 0.125}), 0, 100},
		{algorithms.BucketedWindow(nil), 0, 61*4 + 6},
	} {
		for _, in := range inputs {
			t.Run(c.algorithm.String()+"/"+in.name, func(t *testing.T) {
				l := weir.Limit{Count: limit, Window: window}
				clock := newSimClock(epoch)
				st := memory.New(&memory.Options{Clock: clock.Now})
				defer func() { require.NoError(t, st.Close()) }()
				limiter, err := weir.New(c.algorithm, l, st, nil)
				require.NoError(t, err)
				shape, err := c.algorithm.Shape(l)
				require.NoError(t, err)
				judge := oracle.NewJudge(limit, w)
				longest := 0
				for i := range in.total / in.cost {
					clock.us.Add(in.gap(i))
					d, err := limiter.Take(context.Background(), "k", in.cost)
					if err != nil {
						require.NoError(t, err)
					}
					judge.Observe("k", oracle.Observation{Time: clock.us.Load(), Cost: in.cost, Allowed: d.Allowed, RetryAfter: verdict(d).RetryAfter})
					if i%997 == 0 {
						value, _, err := st.Load(context.Background(), limiter.Keys("k")[0])
						require.NoError(t, err)
						longest = max(longest, len(value))
					}
				}
				report := judge.Report()
				require.LessOrEqual(t, report.MaxInWindow, int64(limit))
				require.Greater(t, report.MaxInWindow, int64(limit/2), "the input fills the window")
				if shape.MaxState > 0 {
					require.LessOrEqual(t, longest, shape.MaxState, "declared")
				}
				t.Logf("%d in a window, %d bytes", report.MaxInWindow, longest)
				require.LessOrEqual(t, longest, int(c.perEvent*float64(report.MaxInWindow))+c.fixed, "sensible")
			})
		}
	}
}
