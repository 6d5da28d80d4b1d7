package algorithms_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

// saneLimit makes a valid limit of any two numbers.
func saneLimit(count, window int64) weir.Limit {
	least := weir.MinWindow.Microseconds()
	return weir.Limit{
		Count:  1 + int64(uint64(count)%weir.MaxCount),
		Window: time.Duration(least+int64(uint64(window)%uint64(weir.MaxWindow.Microseconds()-least+1))) * time.Microsecond,
	}
}

// hostile are the algorithms whose states are put to the test, layers among them.
func hostile() []weir.Algorithm {
	inner := weir.Limit{Count: 3, Window: time.Second}
	return append(algorithms.All(),
		algorithms.GCRA(&algorithms.GCRAOptions{Burst: 2}),
		algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: true}),
		algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: 3}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Block: 3}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Error: 0.2}),
		weir.Layered(algorithms.PackedLog(nil), weir.Layer{Algorithm: algorithms.FixedWindow(), Limit: inner}, weir.Layer{Algorithm: algorithms.GCRA(nil), Limit: inner}),
	)
}

// honestStates are some that the algorithm itself writes.
func honestStates(a weir.Algorithm, l weir.Limit) (all [][]byte) {
	step, params := algorithms.StepOf(a, l)
	var state []byte
	for i := range int64(12) {
		args := store.Args{Now: epoch + i*l.Window.Microseconds()/9, Cost: 1, Params: params}
		if res := step.Func(slices.Clone(state), args); res.State != nil {
			state = res.State
			all = append(all, slices.Clone(state))
		}
	}
	return all
}

// FuzzStates: whatever bytes lie under a key, a step neither panics nor lets more through from then on than
// its guarantee: no more than the capacity at one instant, and no more than the bound in a window. It leaves
// untouched what it does not change or does not know, and what it writes does not outlive the longest TTL, so that
// nobody is locked out for ever.
//
// Of a packed log whose form is right the stream is believed, for to read it all at each decision would cost
// as much as it is long: times that somebody else wrote into it can lie outside the window's bound.
func FuzzStates(f *testing.F) {
	all := hostile()
	for i, a := range all {
		for _, l := range []weir.Limit{{Count: 10, Window: time.Minute}, {Count: 4, Window: time.Second}} {
			for _, state := range honestStates(a, l) {
				f.Add(state, uint8(i), l.Count-1, l.Window.Microseconds()-1000, int64(epoch), int64(1), true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, state []byte, which uint8, count, window, now, cost int64, own bool) {
		a := all[int(which)%len(all)]
		l := saneLimit(count%50, window)
		shape, err := a.Shape(l)
		if err != nil {
			return // options that do not go with the limit
		}
		step, params := algorithms.StepOf(a, l)
		start := int64(uint64(now) % 7_000_000_000_000_000)
		args := store.Args{Now: start, OwnTime: own, Cost: cost % (shape.Capacity + 1), Params: params} // below zero: given back
		owned := slices.Clone(state)
		res := step.Func(owned, args)
		if res.Corrupt || res.State == nil {
			require.Equal(t, state, owned, "untouched")
		}
		if res.Corrupt || res.Reply.Check() != nil {
			return
		}
		require.LessOrEqual(t, res.Reply.Remaining, shape.Capacity)
		if own {
			require.LessOrEqual(t, store.TTL(res.Reply.RetryAfter), shape.MaxTTL+time.Second, "locked out")
		}
		if res.State != nil {
			require.Positive(t, res.TTL)
			require.LessOrEqual(t, store.TTL(res.TTL), shape.MaxTTL)
			state = res.State
		}

		// admitted is how many pass of 60 requests from then on, a gap apart.
		admitted := func(gap int64) (n int64) {
			next := state
			for i := range int64(60) {
				res := step.Func(slices.Clone(next), store.Args{Now: start + i*gap, OwnTime: own, Cost: 1, Params: params})
				if res.Corrupt || res.Reply.Check() != nil {
					return n // an error, which the caller's policy decides
				}
				if res.State != nil {
					next = res.State
				}
				if res.Reply.Allowed {
					n++
				}
			}
			return n
		}
		require.LessOrEqual(t, admitted(0), shape.Capacity, "at one instant")
		if !strings.Contains(a.String(), "packed-log") {
			require.LessOrEqual(t, admitted(l.Window.Microseconds()/60), shape.Guarantee.MaxInWindow, "in one window")
		}
	})
}
