package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/backend"
)

func scenario(t *testing.T, l weir.Limit, name string) bench.Scenario {
	t.Helper()
	for _, s := range bench.Scenarios(l, 1) {
		if s.Name == name {
			return s
		}
	}
	require.Fail(t, "no such scenario", name)
	return bench.Scenario{}
}

// A tenth of the limit from many clients.
func TestFarBelowIsFarBelow(t *testing.T) {
	for _, text := range []string{"10/1s", "300/1m", "1000000000/1h"} {
		l := limit(t, text)
		events := scenario(t, l, "far-below").Events
		keys := map[string]bool{}
		var cost int64
		for _, e := range events {
			keys[e.Key] = true
			cost += e.Cost
		}
		windows := float64(events[len(events)-1].Time-events[0].Time) / float64(l.Window.Microseconds())
		require.Len(t, keys, 64)
		require.InEpsilon(t, 0.1, float64(cost)/float64(l.Count)/windows/64, 0.15, text)
	}
}

// The mean gap is the limit's, the gaps are of very different lengths.
func TestLognormalGaps(t *testing.T) {
	l := limit(t, "10/1s")
	last := map[string]int64{}
	var gaps, short, long int
	var sum int64
	for _, e := range scenario(t, l, "lognormal").Events {
		if at, ok := last[e.Key]; ok {
			gap := e.Time - at
			gaps, sum = gaps+1, sum+gap
			if gap < 10_000 {
				short++
			}
			if gap > 500_000 {
				long++
			}
		}
		last[e.Key] = e.Time
	}
	require.Greater(t, gaps, 1000)
	require.InEpsilon(t, 100_000, float64(sum)/float64(gaps), 0.15)
	require.Greater(t, short, gaps/10, "a tenth of the mean and less")
	require.Greater(t, long, gaps/100, "five times the mean and more")
}

// All requests come about a full window, and each client's bursts are one size with its period.
func TestCronWakesOnTheFullWindow(t *testing.T) {
	for _, text := range []string{"10/1s", "1000/1m", "1000000/1h"} {
		l := limit(t, text)
		w := l.Window.Microseconds()
		bursts := map[string]map[int64]int64{}
		for _, e := range scenario(t, l, "cron").Events {
			nearest := (e.Time + w/4) / w
			require.LessOrEqual(t, e.Time-nearest*w, w/2, "within half a window after it")
			require.GreaterOrEqual(t, e.Time-nearest*w, -w/100, "no more than a hundredth before it")
			if bursts[e.Key] == nil {
				bursts[e.Key] = map[int64]int64{}
			}
			bursts[e.Key][nearest] += e.Cost
		}
		require.GreaterOrEqual(t, len(bursts), 4)
		above := 0
		for _, of := range bursts {
			for _, cost := range of {
				require.GreaterOrEqual(t, cost, l.Count/2)
				require.LessOrEqual(t, cost, l.Count*8/5+1)
				if cost > l.Count {
					above++
				}
			}
		}
		require.Positive(t, above)
	}
}

// The two-window counter on each shape: nothing wrong far below the limit, which is where a
// published share comes from; a great deal at it.
func TestTheCountersErrorIsItsTrafficsOwn(t *testing.T) {
	r := compare(t, precisionOnly(bench.Config{
		Algorithms: []weir.Algorithm{algorithms.SlidingCounter(), algorithms.SlidingLog()},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "10/1s"), Seed: 1,
	}))
	counter, exact := find(t, r, "sliding-counter", "memory:").Precision, find(t, r, "sliding-log", "memory:").Precision
	require.Zero(t, counter["far-below"].Wrong)
	for _, name := range []string{"steady-1x", "lognormal", "on-off", "cron"} {
		p := counter[name]
		require.Equal(t, p.OverAdmitted+p.FalseDenied, p.Wrong, name)
		require.InDelta(t, float64(p.Wrong)/float64(p.Events), p.WrongShare, 1e-12, name)
		require.Greater(t, p.WrongShare, 0.05, name)
		require.Greater(t, p.MeanError, 0.02, name)
		require.Less(t, p.MeanError, 1.0, name)
	}
	for name, p := range exact {
		require.Zero(t, p.Wrong, name)
		require.Zero(t, p.WrongShare, name)
		require.Zero(t, p.MeanError, name)
	}
}

// An aligned counter knows nothing of the window before: told 9 of 10 left where none is free.
func TestMeanErrorByHand(t *testing.T) {
	l := limit(t, "10/1s")
	boundary := noon.UnixMicro()
	events := burst(noon.Add(-1), 0, 10, "client")
	for i := range events {
		events[i].Time = boundary - 1
	}
	events = append(events, burst(noon, 0, 10, "client")...)
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithms.FixedWindow()}, Backends: []*backend.Backend{open(t, "memory:")}, Limit: l, Events: events,
	})
	p := r.Results[0].Precision
	require.EqualValues(t, 10, p.Wrong)
	require.InDelta(t, 0.5, p.WrongShare, 1e-12)
	require.InDelta(t, (9+8+7+6+5+4+3+2+1)/20.0/10, p.MeanError, 1e-12)
}

// A replay, too, names the cost that a log cannot take, and goes on.
func TestReplayNamesACostThatALogCannotTake(t *testing.T) {
	events := burst(noon, 0, 2, "client")
	events[1].Cost = 5000
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithms.SlidingLog(), algorithms.GCRA(nil)},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "10000/1s"), Events: events,
	})
	require.Empty(t, r.Incomplete)
	require.Empty(t, r.Results[0].Error)
	require.Contains(t, r.Results[0].NA, "5000")
	require.Empty(t, r.Results[0].MostDenied)
	require.EqualValues(t, 2, r.Results[1].Allowed)
}
