package algorithms_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

func caged(t testing.TB, a weir.Algorithm, cage string) weir.Algorithm {
	l, err := weir.ParseLimit(cage)
	require.NoError(t, err)
	return weir.Layered(a, weir.Layer{Algorithm: a, Limit: l})
}

// The burst cage: a fixed window of 100 a minute admits 200 across its boundary; caged
// with 5 a second, 10 in that second, and still up to 200 in a minute.
func TestTheCage(t *testing.T) {
	onStores(t, fixed, func(t *testing.T, a weir.Algorithm, st store.Store) {
		if _, ok := st.(store.Swapper); !ok {
			t.Logf("not here: one composite value needs a script or compare-and-swap")
			return
		}
		s := simulate(t, caged(t, a, "5/1s"), "100/1m", st)
		require.Equal(t, "fixed-window+5/1s", s.limiter.Algorithm().String())
		judge, second := oracle.NewJudge(100, 60e6), oracle.NewJudge(5, 1e6)
		at := func(seconds float64) bool {
			d := s.at(seconds, 1)
			for _, j := range []*oracle.Judge{judge, second} {
				j.Observe("k", oracle.Observation{Time: s.clock.us.Load(), Cost: 1, Allowed: d.Allowed})
			}
			return d.Allowed
		}
		for _, from := range []float64{40, 60} { // the last 20 s of a minute, the first of the next
			for i := range 20 * 50 {
				at(from + float64(i)/50)
			}
		}
		require.EqualValues(t, 200, judge.Report().MaxInWindow)
		require.EqualValues(t, 5, second.Report().MaxInWindow)

		s = simulate(t, caged(t, a, "5/1s"), "100/1m", st)
		require.NoError(t, s.limiter.Reset(context.Background(), "k"))
		second = oracle.NewJudge(5, 1e6)
		got := ""
		for _, seconds := range append(repeat(59.9, .01, 8), repeat(60, .01, 8)...) {
			d := s.at(seconds, 1)
			got += letter(d)
			second.Observe("k", oracle.Observation{Time: s.clock.us.Load(), Cost: 1, Allowed: d.Allowed})
		}
		require.Equal(t, "AAAAADDD"+"AAAAADDD", got)
		require.EqualValues(t, 10, second.Report().MaxInWindow, "in the second about the boundary")
	})
}

// Layers decide as limiters that are asked one by one and charged together.
func TestLayersAreAllOrNothing(t *testing.T) {
	outer, inner := weir.Limit{Count: 9, Window: 40 * time.Millisecond}, weir.Limit{Count: 4, Window: 7 * time.Millisecond}
	stores := map[string]store.Store{
		"redis": storetest.Miniredis(t), "memcached": storetest.Memcachetest(t), "memory": storetest.Memory(t),
	}
	exact := algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond})
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		pair := []weir.Algorithm{}
		for _, label := range []string{"outer", "inner"} {
			a := rapid.SampledFrom(defined).Draw(t, label)
			if a.Name() == "packed-log" {
				a = exact
			}
			pair = append(pair, a)
		}
		a := weir.Layered(pair[0], weir.Layer{Algorithm: pair[1], Limit: inner})
		clock := newSimClock(epoch)
		var limiters []*weir.Weir
		for _, st := range stores {
			l, err := weir.New(a, outer, st, &weir.Options{Clock: clock.Now, Prefix: "run" + string(rune('a'+run%26)) + strings.Repeat("x", run/26)})
			var unsupported *weir.UnsupportedError
			if err != nil {
				require.ErrorAs(t, err, &unsupported)
				continue
			}
			require.NoError(t, l.Reset(context.Background(), "k"))
			limiters = append(limiters, l)
		}
		models := []*oracle.Model{model(t, pair[0], outer), model(t, pair[1], inner)}
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			clock.us.Add(rapid.Int64Range(0, 4000).Draw(t, "gap"))
			n := rapid.Int64Range(0, 4).Draw(t, "cost")
			want := oracle.Verdict{Allowed: true, Remaining: 4}
			for _, m := range models {
				v := m.Clone().Take(clock.us.Load(), n)
				want.Allowed = want.Allowed && v.Allowed
			}
			for _, m := range models {
				v := m.Clone().Take(clock.us.Load(), n)
				if want.Allowed {
					v = m.Take(clock.us.Load(), n)
				} else if v.Allowed {
					v = m.Take(clock.us.Load(), 0)
				}
				want.Remaining = min(want.Remaining, v.Remaining)
				want.RetryAfter = max(want.RetryAfter, v.RetryAfter)
				want.ResetAfter = max(want.ResetAfter, v.ResetAfter)
			}
			for _, l := range limiters {
				d, err := l.Take(context.Background(), "k", n)
				require.NoError(t, err)
				require.Equal(t, want, verdict(d), "%s on %s, cost %d", a, l.Store().Traits().Name, n)
			}
		}
	})
}

func TestLayersAllocateNothing(t *testing.T) {
	st := memory.New(nil)
	defer func() { require.NoError(t, st.Close()) }()
	l := newLimiter(t, caged(t, algorithms.FixedWindow(), "5/1s"), "100/1m", st, nil)
	allocs := testing.AllocsPerRun(1000, func() { _, _ = l.Take(context.Background(), "k", 1) })
	require.Zero(t, allocs)
}

// Layers of layers are layers: the same decisions and the same keys, all of which a reset
// removes.
func TestLayersOfLayers(t *testing.T) {
	of := func(a weir.Algorithm, limit string) weir.Layer {
		l, err := weir.ParseLimit(limit)
		require.NoError(t, err)
		return weir.Layer{Algorithm: a, Limit: l}
	}
	ring, log := of(algorithms.RingLog(nil), "5/1s"), algorithms.SlidingLog()
	nested := weir.Layered(algorithms.GCRA(nil), of(weir.Layered(log, ring), "7/1m"))
	flat := weir.Layered(algorithms.GCRA(nil), of(log, "7/1m"), ring)
	storetest.Each(t, func(t *testing.T, st store.Store) {
		if _, ok := st.(store.SortedSet); !ok {
			t.Log("not here: it needs a sorted set")
			return
		}
		one, two := simulate(t, nested, "100/1m", st), simulate(t, flat, "100/1m", st)
		require.Equal(t, two.limiter.Keys("k"), one.limiter.Keys("k"))
		for i := range 10 {
			got := one.at(float64(i)/10, 1)
			require.Equal(t, i < 5, got.Allowed)
			require.Equal(t, two.at(float64(i)/10, 0).Remaining, got.Remaining)
		}
		require.NoError(t, one.limiter.Reset(context.Background(), "k"))
		require.EqualValues(t, 5, one.at(1, 0).Remaining)
		storetest.NoKeys(t, st, one.limiter.Keys("k"))
	})
}

// Bytes behind the last layer's are none that a composite wrote.
func TestLayersRefuseWhatFollows(t *testing.T) {
	for _, st := range []store.Store{storetest.Memory(t), storetest.Miniredis(t), storetest.Memcachetest(t)} {
		l := newLimiter(t, caged(t, algorithms.FixedWindow(), "5/1s"), "100/1m", st, nil)
		_, err := st.(store.Swapper).Swap(context.Background(), l.Keys("k")[0], "", make([]byte, 3), time.Minute)
		require.NoError(t, err)
		_, err = l.Take(context.Background(), "k", 1)
		require.ErrorIs(t, err, store.ErrCorrupt)
	}
}
