package soak_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
)

// subject is one algorithm under one limit, and what was declared of it.
type subject struct {
	algorithm weir.Algorithm
	limit     weir.Limit
	promises  []promise
	deficit   int64 // the most free places at a denial; below zero: nothing is declared of that
}

// promise is the most that any window may see admitted. Layers have one each.
type promise struct {
	limit, window int64
	most          int64
}

func newPromise(t *testing.T, a weir.Algorithm, l weir.Limit) (promise, weir.Guarantee) {
	shape, err := a.Shape(l)
	require.NoError(t, err)
	return promise{limit: l.Count, window: l.Window.Microseconds(), most: shape.Guarantee.MaxInWindow}, shape.Guarantee
}

// subjects are every algorithm with every option, under limits of all sizes, and layers.
func subjects(t *testing.T) (all []subject) {
	for _, text := range []string{"1/1ms", "3/10ms", "7/1s", "10/1s", "100/1m", "1000/1h", "2000/1s"} {
		l, err := weir.ParseLimit(text)
		require.NoError(t, err)
		for _, a := range variants(l) {
			p, g := newPromise(t, a, l)
			s := subject{algorithm: a, limit: l, promises: []promise{p}, deficit: g.Deficit}
			if g.DeniedCount {
				s.deficit = -1
			}
			all = append(all, s)
		}
	}
	return append(all, cages(t)...)
}

func variants(l weir.Limit) []weir.Algorithm {
	all := append(algorithms.All(),
		algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: true}),
		algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: 1}),
		algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: 7}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: l.Window / 4}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Block: min(l.Count, 3)}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Error: 0.125}),
	)
	for _, burst := range []int64{1, (l.Count + 1) / 2, 3 * l.Count} {
		all = append(all, algorithms.GCRA(&algorithms.GCRAOptions{Burst: burst}))
	}
	return all
}

// cages are layers of like and unlike kinds. What is denied for one layer's sake is no deficit of another.
func cages(t *testing.T) (all []subject) {
	outer := weir.Limit{Count: 40, Window: time.Minute}
	inner := weir.Limit{Count: 7, Window: time.Second}
	for _, pair := range [][2]weir.Algorithm{
		{algorithms.FixedWindow(), algorithms.FixedWindow()},
		{algorithms.PackedLog(nil), algorithms.GCRA(nil)},
		{algorithms.SlidingCounter(), algorithms.BucketedWindow(nil)},
		{algorithms.SlidingLog(), algorithms.RingLog(nil)},
		{algorithms.FixedWindowFirstHit(), algorithms.PackedLog(&algorithms.PackedLogOptions{Block: 2})},
	} {
		first, _ := newPromise(t, pair[0], outer)
		second, _ := newPromise(t, pair[1], inner)
		all = append(all, subject{
			algorithm: weir.Layered(pair[0], weir.Layer{Algorithm: pair[1], Limit: inner}),
			limit:     outer, promises: []promise{first, second}, deficit: -1,
		})
	}
	return all
}
