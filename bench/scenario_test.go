package bench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
)

func TestScenariosComeFromTheSeedAlone(t *testing.T) {
	l := limit(t, "10/1s")
	require.Equal(t, bench.Scenarios(l, 7), bench.Scenarios(l, 7))
	a, b := bench.Scenarios(l, 7), bench.Scenarios(l, 8)
	var names []string
	for i := range a {
		names = append(names, a[i].Name)
		if a[i].Name == "boundary-burst" {
			require.Equal(t, a[i], b[i], "it has no chance in it")
			continue
		}
		require.NotEqual(t, a[i].Events, b[i].Events, a[i].Name)
	}
	require.Equal(t, []string{"boundary-burst", "steady-0.8x", "steady-1x", "steady-2x", "on-off", "far-below", "lognormal", "cron"}, names)
}

func TestScenariosStayWithinBounds(t *testing.T) {
	for _, text := range []string{
		"1/1ms", "1/1s", "7/1s", "10/1s", "100/5m", "2000/1m", "2001/1m", "50000/1s", "1000000000/1s", "1000000000/3650d", "1/3650d",
	} {
		l := limit(t, text)
		for _, s := range bench.Scenarios(l, 1) {
			require.NotEmpty(t, s.Events, "%s %s", text, s.Name)
			require.LessOrEqual(t, len(s.Events), 25_000, "%s %s", text, s.Name)
			require.True(t, slices.IsSortedFunc(s.Events, func(a, b trace.Event) int { return int(min(max(a.Time-b.Time, -1), 1)) }))
			require.Less(t, s.Events[len(s.Events)-1].Time, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
			require.False(t, slices.ContainsFunc(s.Events, func(e trace.Event) bool { return e.Cost < 1 }))
		}
	}
}

// The load of a steady scenario is what its name says, and a burst is exactly the limit.
func TestScenariosAskForWhatTheySay(t *testing.T) {
	for _, text := range []string{"10/1s", "300/1m", "5001/1m", "1000000000/1h"} {
		l := limit(t, text)
		scenarios := bench.Scenarios(l, 3)
		for i, factor := range map[int]float64{1: 0.8, 2: 1, 3: 2} {
			var cost int64
			keys := map[string]bool{}
			first, last := scenarios[i].Events[0].Time, int64(0)
			for _, e := range scenarios[i].Events {
				cost += e.Cost
				keys[e.Key] = true
				last = e.Time
			}
			windows := float64(last-first) / float64(l.Window.Microseconds())
			require.InEpsilon(t, factor, float64(cost)/float64(l.Count)/windows/float64(len(keys)), 0.15, "%s %s", text, scenarios[i].Name)
			require.GreaterOrEqual(t, len(keys), 4)
		}
		type moment struct {
			key string
			at  int64
		}
		bursts := map[moment]int64{}
		for _, e := range scenarios[0].Events {
			bursts[moment{e.Key, e.Time}] += e.Cost
		}
		whole := 0
		for _, cost := range bursts {
			if cost != 1 { // an opener
				require.Equal(t, l.Count, cost)
				whole++
			}
		}
		require.GreaterOrEqual(t, whole, 8, "two for each of at least four phases")
	}
}
