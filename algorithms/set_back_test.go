package algorithms_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// variants are the algorithms with default options and with some that change the state.
func variants() []weir.Algorithm {
	return append(algorithms.All(),
		algorithms.GCRA(&algorithms.GCRAOptions{Burst: 2}),
		algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: 7}),
		algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: true}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: 100 * time.Millisecond, Block: 3}),
	)
}

// Where the store's own clock steps back, near 1970 too, both twins move the state alike,
// and nobody is locked out for longer than the state can honestly tell.
func TestLuaFollowsItsOwnClockAsGo(t *testing.T) {
	mini := miniredis.RunT(t) // its keys do not expire by themselves, and here none does
	twin, err := redis.Open("redis://"+mini.Addr(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, twin.Close()) }()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		l := weir.Limit{
			Count:  rapid.Int64Range(3, 12).Draw(t, "limit"),
			Window: rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 7 * time.Second, time.Minute}).Draw(t, "window"),
		}
		a := rapid.SampledFrom(variants()).Draw(t, "algorithm")
		shape, err := a.Shape(l)
		if err != nil {
			return // a tick that does not go with the window
		}
		longest := 2*l.Window + shape.Guarantee.DeficitFor
		if rapid.Bool().Draw(t, "layered") && !shape.Guarantee.DeniedCount {
			a = weir.Layered(a, weir.Layer{Algorithm: algorithms.SlidingLog(), Limit: weir.Limit{Count: 4, Window: 3 * time.Second}},
				weir.Layer{Algorithm: algorithms.FixedWindow(), Limit: weir.Limit{Count: 5, Window: 2 * time.Second}})
			longest = max(longest, 3*time.Second)
		}
		step, params := algorithms.StepOf(a, l)
		var state []byte
		luaSide, err := weir.New(a, l, twin, &weir.Options{Prefix: fmt.Sprint("run", run)})
		require.NoError(t, err)
		now := rapid.SampledFrom([]int64{0, 1, 5e6, epoch}).Draw(t, "start")
		for range rapid.IntRange(1, 25).Draw(t, "events") {
			by := rapid.SampledFrom([]int64{0, 1, 1000, 400_000, 999_999, 1_000_000, 1_000_001, 20e6}).Draw(t, "by")
			if rapid.IntRange(0, 3).Draw(t, "direction") == 0 {
				by = -by
			}
			now = max(0, now+by)
			mini.SetTime(time.UnixMicro(now))
			n := min(rapid.Int64Range(-2, 3).Draw(t, "cost"), luaSide.Capacity())
			res := step.Func(state, store.Args{Now: now, OwnTime: true, Cost: n, Params: params})
			require.False(t, res.Corrupt)
			if res.State != nil {
				state = res.State
			}
			var got weir.Decision
			if n < 0 {
				got, err = luaSide.Refund(context.Background(), "k", -n)
			} else {
				got, err = luaSide.Take(context.Background(), "k", n)
			}
			require.NoError(t, err)
			want := weir.Decision{
				Allowed: res.Reply.Allowed, Limit: luaSide.Capacity(), Remaining: res.Reply.Remaining,
				RetryAfter: store.TTL(res.Reply.RetryAfter), ResetAfter: store.TTL(res.Reply.ResetAfter),
			}
			require.Equal(t, want, got, "%s %s at %d, cost %d", a, l, now, n)
			require.LessOrEqual(t, got.RetryAfter, longest+time.Second, "locked out")
		}
	})
}
