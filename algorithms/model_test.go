package algorithms_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/store/memory"
)

// simClock is simulated time, in microseconds since the Unix epoch. A store's sweeper
// reads it too.
type simClock struct{ us atomic.Int64 }

func newSimClock(us int64) *simClock {
	c := &simClock{}
	c.us.Store(us)
	return c
}

func (c *simClock) Now() time.Time { return time.UnixMicro(c.us.Load()) }

// model returns the reference model of an algorithm: exact rational arithmetic,
// written independently.
func model(t require.TestingT, a weir.Algorithm, l weir.Limit) *oracle.Model {
	w := l.Window.Microseconds()
	shape, err := a.Shape(l)
	require.NoError(t, err)
	switch a.Name() {
	case "fixed-window":
		return oracle.NewFixedWindow(l.Count, w)
	case "fixed-window-first-hit":
		return oracle.NewFirstHit(l.Count, w)
	case "sliding-counter":
		return oracle.NewSlidingCounter(l.Count, w)
	case "gcra":
		return oracle.NewGCRA(l.Count, w, shape.Capacity)
	case "sliding-log", "ring-log", "packed-log":
		return oracle.NewLog(l.Count, w)
	}
	require.Fail(t, "no reference model", a.Name())
	return nil
}

func verdict(d weir.Decision) oracle.Verdict {
	v := oracle.Verdict{
		Allowed: d.Allowed, Remaining: d.Remaining,
		RetryAfter: d.RetryAfter.Microseconds(), ResetAfter: d.ResetAfter.Microseconds(),
	}
	if d.RetryAfter == weir.Never {
		v.RetryAfter = oracle.Never
	}
	return v
}

var interestingLimits = []weir.Limit{
	{Count: 1, Window: time.Millisecond},
	{Count: 7, Window: time.Second},
	{Count: 3, Window: 10 * time.Millisecond},
	{Count: 10, Window: time.Second},
	{Count: 1, Window: 24 * time.Hour},
	{Count: 1_000_000, Window: time.Hour},
	{Count: 65535, Window: time.Second},
	{Count: 2000, Window: time.Second},
	{Count: 1_000_000, Window: 30 * 24 * time.Hour},
	{Count: 1_000_000_000, Window: time.Millisecond},
	{Count: 1_000_000_000, Window: weir.MaxWindow},
	{Count: 999_999_937, Window: weir.MaxWindow - time.Microsecond},
	{Count: 5, Window: weir.MaxWindow},
}

// defined are the algorithms whose definition the oracle knows.
var defined = slices.DeleteFunc(algorithms.All(), func(a weir.Algorithm) bool { return a.Name() == "bucketed-window" })

func drawAlgorithm(t *rapid.T, l weir.Limit, from []weir.Algorithm) weir.Algorithm {
	a := rapid.SampledFrom(from).Draw(t, "algorithm")
	if a.Name() == "gcra" && rapid.Bool().Draw(t, "with burst") {
		most := int64(weir.MaxCount)
		if w := l.Window / time.Duration(l.Count); w > 0 {
			most = min(most, int64(49*365*24*time.Hour/(w+1)))
		}
		burst := rapid.Int64Range(1, max(most, 1)).Draw(t, "burst")
		if rapid.Bool().Draw(t, "small burst") {
			burst = 1 + burst%20
		}
		a = algorithms.GCRA(&algorithms.GCRAOptions{Burst: burst})
	}
	if a.Name() == "packed-log" && l.Count > 1e8 && l.Window > time.Hour {
		return algorithms.SlidingLog() // its worst case would take gigabytes, and is refused
	}
	if a.Name() == "packed-log" { // the grain at which it is exact
		a = algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond})
	}
	return a
}

// drawCost draws a cost that a log with an entry per request takes.
func drawCost(t *rapid.T, capacity int64) int64 {
	switch rapid.IntRange(0, 9).Draw(t, "kind of cost") {
	case 0:
		return 0
	case 1:
		return rapid.Int64Range(1, 1000).Draw(t, "cost")
	case 2:
		return min(capacity, 1000)
	case 3:
		return capacity + rapid.Int64Range(1, 3).Draw(t, "above")
	default:
		return rapid.Int64Range(1, 3).Draw(t, "small cost")
	}
}

func drawGap(t *rapid.T, l weir.Limit) int64 {
	w := l.Window.Microseconds()
	switch rapid.IntRange(0, 7).Draw(t, "kind of gap") {
	case 0, 1:
		return 0
	case 2:
		return 1
	case 3:
		return w
	case 4:
		return rapid.Int64Range(0, 3*w).Draw(t, "long gap")
	case 5:
		return rapid.Int64Range(0, max(w/l.Count, 1)*2).Draw(t, "gap about the emission")
	case 6:
		return max(w-1, 0)
	default:
		return rapid.Int64Range(0, w/4+1).Draw(t, "gap")
	}
}

// Every algorithm decides as its definition in exact arithmetic, remaining, retry and
// reset included.
func TestAlgorithmsMatchTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(interestingLimits).Draw(t, "limit")
		a := drawAlgorithm(t, l, defined)
		clock := newSimClock(1_700_000_000_000_000 + rapid.Int64Range(0, 1e12).Draw(t, "start"))
		st := memory.New(&memory.Options{Clock: clock.Now})
		defer func() { require.NoError(t, st.Close()) }()
		limiter, err := weir.New(a, l, st, nil)
		require.NoError(t, err)
		reference := model(t, a, l)

		for range rapid.IntRange(1, 60).Draw(t, "events") {
			clock.us.Add(drawGap(t, l))
			if clock.us.Load() > 7_000_000_000_000_000 {
				return
			}
			n := drawCost(t, limiter.Capacity())
			d, err := limiter.Take(context.Background(), "k", n)
			if n > 1000 && n <= limiter.Capacity() && limiter.Plan().MaxCost > 0 {
				var field *weir.FieldError
				require.ErrorAs(t, err, &field)
				require.Equal(t, "cost", field.Field)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, reference.Take(clock.us.Load(), n), verdict(d), "%s %s at %d, cost %d", a, l, clock.us.Load(), n)
			require.GreaterOrEqual(t, limiter.Capacity(), d.Remaining)
		}
	})
}
