package algorithms_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// The Lua twin of every step decides as the Go twin does: limits, costs, gaps and
// clocks that step back, on the server's step and on this process's. Where the state
// is one value, its bytes are the same too.
func TestLuaDecidesAsGo(t *testing.T) {
	for _, server := range []struct {
		name string
		open func(testing.TB) store.Store
	}{{"miniredis", storetest.Miniredis}, {"redis", storetest.Redis}} {
		t.Run(server.name, func(t *testing.T) {
			twin := server.open(t)
			run := 0
			rapid.Check(t, func(t *rapid.T) {
				run++
				l := rapid.SampledFrom(interestingLimits).Draw(t, "limit")
				a := drawAlgorithm(t, l, algorithms.All())
				if a.Name() == "packed-log" {
					a = drawPackedLog(t, l)
				}
				compareTwins(t, twin, a, l, fmt.Sprintf("run%d", run))
			})
		})
	}
}

func drawPackedLog(t *rapid.T, l weir.Limit) weir.Algorithm {
	o := algorithms.PackedLogOptions{}
	if rapid.Bool().Draw(t, "with tick") {
		o.Tick = time.Duration(rapid.Int64Range(1, min(l.Window.Microseconds(), 5000)).Draw(t, "tick")) * time.Microsecond
	}
	if rapid.Bool().Draw(t, "with block") {
		o.Block = rapid.Int64Range(1, min(l.Count, 50)).Draw(t, "block")
	}
	if _, err := weir.New(algorithms.PackedLog(&o), l, memory.New(nil), nil); err != nil {
		return algorithms.GCRA(nil) // too large for any store, which is another test's
	}
	return algorithms.PackedLog(&o)
}

func compareTwins(t *rapid.T, twin store.Store, a weir.Algorithm, l weir.Limit, prefix string) {
	clock := newSimClock(epoch + rapid.Int64Range(0, 1e12).Draw(t, "start"))
	st := memory.New(nil) // expires in real time, as the twin does
	defer func() { require.NoError(t, st.Close()) }()
	options := &weir.Options{Clock: clock.Now, Prefix: prefix}
	goSide, err := weir.New(a, l, st, options)
	require.NoError(t, err)
	luaSide, err := weir.New(a, l, twin, options)
	require.NoError(t, err)
	defer func() { require.NoError(t, luaSide.Reset(context.Background(), "k")) }()

	for range rapid.IntRange(1, 25).Draw(t, "events") {
		clock.us.Add(drawGap(t, l))
		if rapid.IntRange(0, 9).Draw(t, "step back") == 0 {
			clock.us.Store(max(0, clock.us.Load()-rapid.Int64Range(0, 3*l.Window.Microseconds()).Draw(t, "by")))
		}
		if clock.us.Load() > 7_000_000_000_000_000 {
			return
		}
		n := drawCost(t, goSide.Capacity())
		if rapid.IntRange(0, 5).Draw(t, "refund") == 0 {
			want, err := goSide.Refund(context.Background(), "k", n)
			require.NoError(t, err)
			got, err := luaSide.Refund(context.Background(), "k", n)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s %s at %d, refund %d", a, l, clock.us.Load(), n)
			continue
		}
		want, wantErr := goSide.Take(context.Background(), "k", n)
		got, gotErr := luaSide.Take(context.Background(), "k", n)
		if wantErr != nil {
			require.Error(t, gotErr)
			continue
		}
		require.NoError(t, gotErr)
		require.Equal(t, want, got, "%s %s at %d, cost %d", a, l, clock.us.Load(), n)
	}
	if a.Name() == "sliding-log" || a.Name() == "ring-log" {
		return // a data structure there
	}
	for _, key := range goSide.Keys("k") {
		want, _, err := st.Load(context.Background(), key)
		require.NoError(t, err)
		got, _, err := twin.(store.Swapper).Load(context.Background(), key)
		require.NoError(t, err)
		require.Equal(t, want, got, "state of %s", a)
	}
}

// A long packed log goes through every form of its value on both sides.
func TestLuaPacksAsGo(t *testing.T) {
	for _, server := range []struct {
		name   string
		open   func(testing.TB) store.Store
		events int
	}{{"miniredis", storetest.Miniredis, 750}, {"redis", storetest.Redis, 3000}} {
		t.Run(server.name, func(t *testing.T) {
			twin := server.open(t)
			for block, tick := range map[int64]time.Duration{1: time.Microsecond, 3: 0, 2: 10 * time.Microsecond} {
				a := algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: tick, Block: block})
				l := weir.Limit{Count: 9000, Window: time.Minute}
				clock := newSimClock(epoch)
				st := memory.New(nil)
				options := &weir.Options{Clock: clock.Now, Prefix: "packs"}
				goSide, err := weir.New(a, l, st, options)
				require.NoError(t, err)
				luaSide, err := weir.New(a, l, twin, options)
				require.NoError(t, err)
				for i := range server.events {
					switch {
					case i%700 == 699:
						clock.us.Add(int64(i) * 4000) // a pause, so that much expires at once
					case i%7 < 3:
						clock.us.Add(int64(i * 7919 % 20_000))
					}
					n := int64(1)
					if i%500 == 17 {
						n = 1 + int64(i*31%4000)
					}
					if i%170 == 5 { // deep into the stream
						want, err := goSide.Refund(context.Background(), "k", int64(i*17%2500))
						require.NoError(t, err)
						got, err := luaSide.Refund(context.Background(), "k", int64(i*17%2500))
						require.NoError(t, err)
						require.Equal(t, want, got, "%s, event %d, refund", a, i)
					}
					want, err := goSide.Take(context.Background(), "k", n)
					require.NoError(t, err)
					got, err := luaSide.Take(context.Background(), "k", n)
					require.NoError(t, err)
					require.Equal(t, want, got, "%s, event %d, cost %d", a, i, n)
					if i%100 == 0 || i%700 > 690 {
						value, _, err := st.Load(context.Background(), goSide.Keys("k")[0])
						require.NoError(t, err)
						theirs, _, err := twin.(store.Swapper).Load(context.Background(), luaSide.Keys("k")[0])
						require.NoError(t, err)
						require.Equal(t, value, theirs, "event %d", i)
					}
				}
				require.NoError(t, luaSide.Reset(context.Background(), "k"))
				require.NoError(t, st.Close())
			}
		})
	}
}
