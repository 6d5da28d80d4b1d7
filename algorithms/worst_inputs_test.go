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
	const limit = 100_000
	inputs := []struct {
		name string
		gap  func(i int64, window int64) int64 // microseconds before the i-th request
	}{
		{"one tick", func(int64, int64) int64 { return 0 }},
		{"one every W/L", func(_, window int64) int64 { return window / limit }},
		{"two at a time", func(i, window int64) int64 { return i % 2 * (2 * window / limit) }},
		{"an idle window between", func(i, window int64) int64 {
			if i == limit+limit/10 {
				return window
			}
			return i % 3 * window / (3 * limit)
		}},
		{"long gaps within a burst", func(i, window int64) int64 {
			if i%1000 == 999 {
				return window / 100
			}
			return 0
		}},
	}
	for _, c := range []struct {
		algorithm weir.Algorithm
		perEvent  float64 // bytes per request in the window, at most
		fixed     int     // and bytes beside
		windows   []time.Duration
	}{
		{algorithms.PackedLog(nil), 2.2, 200, []time.Duration{10 * time.Second, time.Hour}},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond}), 3.5, 200, []time.Duration{10 * time.Second}},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Block: 10}), 0.4, 200, []time.Duration{10 * time.Second}},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Error: 0.125}), 0, 200, []time.Duration{10 * time.Second}},
		{algorithms.BucketedWindow(nil), 0, 61*4 + 6, []time.Duration{10 * time.Second}},
	} {
		for _, in := range inputs {
			for _, window := range c.windows {
				t.Run(c.algorithm.String()+"/"+in.name+"/"+window.String(), func(t *testing.T) {
					l := weir.Limit{Count: limit, Window: window}
					clock := newSimClock(epoch)
					st := memory.New(&memory.Options{Clock: clock.Now})
					defer func() { require.NoError(t, st.Close()) }()
					limiter, err := weir.New(c.algorithm, l, st, nil)
					require.NoError(t, err)
					shape, err := c.algorithm.Shape(l)
					require.NoError(t, err)
					judge := oracle.NewJudge(limit, window.Microseconds())
					longest := 0
					for i := range int64(limit * 13 / 10) {
						clock.us.Add(in.gap(i, window.Microseconds()))
						d, err := limiter.Take(context.Background(), "k", 1)
						if err != nil {
							require.NoError(t, err)
						}
						judge.Observe("k", oracle.Observation{Time: clock.us.Load(), Cost: 1, Allowed: d.Allowed, RetryAfter: verdict(d).RetryAfter})
						if i%9973 == 0 || i == limit-1 {
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
}
