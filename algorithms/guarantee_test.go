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

// drawVariant draws an algorithm with options, for small limits.
func drawVariant(t *rapid.T, l weir.Limit) weir.Algorithm {
	a := rapid.SampledFrom(algorithms.All()).Draw(t, "algorithm")
	switch a.Name() {
	case "gcra":
		return algorithms.GCRA(&algorithms.GCRAOptions{Burst: rapid.Int64Range(1, 2*l.Count).Draw(t, "burst")})
	case "bucketed-window":
		return algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: rapid.Int64Range(1, 70).Draw(t, "buckets")})
	case "packed-log":
		return algorithms.PackedLog(&algorithms.PackedLogOptions{
			Tick:  time.Duration(rapid.Int64Range(1, 40).Draw(t, "tick")) * time.Microsecond,
			Block: rapid.Int64Range(1, l.Count).Draw(t, "block"),
		})
	case "ring-log":
		return algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: rapid.Bool().Draw(t, "count denied")})
	}
	return a
}

// No algorithm ever admits more than it declares, nor denies with more places free;
// and what it says of waiting is true: denied the microsecond before, admitted then.
func TestEveryAlgorithmKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := weir.Limit{
			Count:  rapid.Int64Range(1, 200).Draw(t, "limit"),
			Window: time.Duration(rapid.Int64Range(1000, 5000).Draw(t, "window")) * time.Microsecond,
		}
		a := drawVariant(t, l)
		clock := newSimClock(epoch)
		st := memory.New(&memory.Options{Clock: clock.Now})
		defer func() { require.NoError(t, st.Close()) }()
		limiter, err := weir.New(a, l, st, nil)
		require.NoError(t, err)
		shape, err := a.Shape(l)
		require.NoError(t, err)
		judge := oracle.NewJudge(l.Count, l.Window.Microseconds())
		take := func(n int64) weir.Decision {
			d, err := limiter.Take(context.Background(), "k", n)
			require.NoError(t, err)
			judge.Observe("k", oracle.Observation{
				Time: clock.us.Load(), Cost: n, Allowed: d.Allowed, RetryAfter: verdict(d).RetryAfter,
			})
			return d
		}
		mostGap := 2 * l.Window.Microseconds() / l.Count
		for range rapid.IntRange(1, 300).Draw(t, "events") {
			clock.us.Add(rapid.Int64Range(0, mostGap).Draw(t, "gap"))
			n := rapid.Int64Range(0, 3).Draw(t, "cost")
			d := take(n)
			if d.Allowed || d.RetryAfter == weir.Never || shape.Guarantee.DeniedCount {
				continue
			}
			clock.us.Add(d.RetryAfter.Microseconds() - 1)
			early := take(n)
			require.False(t, early.Allowed, "%s admitted before the time that it told", a)
			require.Equal(t, time.Microsecond, early.RetryAfter)
			clock.us.Add(1)
			require.True(t, take(n).Allowed, "%s denied at the time that it told", a)
		}
		report := judge.Report()
		require.LessOrEqual(t, report.MaxInWindow, shape.Guarantee.MaxInWindow, a)
		require.LessOrEqual(t, report.MaxDeficit, shape.Guarantee.Deficit, a)
	})
}
