package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/backend"
)

func TestBoundaryBurstFindsTheWorst(t *testing.T) {
	memory := []*backend.Backend{open(t, "memory:")}
	for text, worst := range map[string]map[string]int64{
		"10/1s": {
			"fixed-window": 20, "fixed-window-first-hit": 19, "sliding-counter": 19,
			"gcra": 19, "sliding-log": 10, "ring-log": 10,
		},
		"5001/1m": {
			"fixed-window": 10_002, "fixed-window-first-hit": 10_001, "gcra": 10_001, "sliding-log": 5001,
		},
		"1000000000/1h": {"fixed-window": 2_000_000_000},
	} {
		var all []weir.Algorithm
		for name := range worst {
			all = append(all, algorithm(t, name))
		}
		r := compare(t, precisionOnly(bench.Config{Algorithms: all, Backends: memory, Limit: limit(t, text), Seed: 1}))
		require.Empty(t, r.Incomplete)
		for name, most := range worst {
			p := find(t, r, name, "memory:").Precision["boundary-burst"]
			if text != "5001/1m" || name == "fixed-window" || name == "sliding-log" {
				require.Equal(t, most, p.MaxInWindow, "%s %s", name, text)
				continue
			}
			// Requests of several places each may leave less than one of them free.
			require.InDelta(t, most, p.MaxInWindow, 3, "%s %s", name, text)
		}
	}
}

func TestNothingPassesItsGuarantee(t *testing.T) {
	memory := []*backend.Backend{open(t, "memory:")}
	for _, text := range []string{"7/1s", "3/1ms", "2/3650d"} {
		r := compare(t, precisionOnly(bench.Config{Algorithms: algorithms.All(), Backends: memory, Limit: limit(t, text), Seed: 5}))
		require.Empty(t, r.Incomplete)
		for _, res := range r.Results {
			require.Len(t, res.Precision, len(bench.Scenarios(limit(t, "10/1s"), 1)))
			for scenario, p := range res.Precision {
				require.LessOrEqual(t, p.MaxInWindow, res.Guarantee.MaxInWindow, "%s %s %s", res.Algorithm, text, scenario)
				require.LessOrEqual(t, p.MaxDeficit, res.Guarantee.Deficit, "%s %s %s", res.Algorithm, text, scenario)
				require.Equal(t, p.Events, p.Allowed+p.Denied)
				require.InDelta(t, float64(p.MaxInWindow)/float64(r.Limit.Count), p.MaxOverLimit, 1e-9)
			}
		}
	}
}

func TestExactLogIsWithoutFault(t *testing.T) {
	r := compare(t, precisionOnly(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "sliding-log"), algorithm(t, "ring-log")},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "7/1s"), Seed: 2,
	}))
	for _, res := range r.Results {
		for scenario, p := range res.Precision {
			require.Zero(t, p.OverAdmitted+p.FalseDenied+p.MaxDeficit+p.RetryErrorMaxUS, "%s %s", res.Algorithm, scenario)
			require.Equal(t, p.ExactAdmitted, p.Allowed)
			require.Equal(t, 1.0, p.AdmittedRatio)
		}
		require.Positive(t, res.Precision["steady-2x"].Denied)
	}
}

// A mistake in an algorithm's core shows in the judge's figures.
func TestMutantsAreCaught(t *testing.T) {
	for _, c := range []struct {
		name, algorithm string
		change          func(params []int64)
		caught          func(p bench.Precision) int64
	}{
		{
			"count+n < limit in place of <=", "fixed-window",
			func(p []int64) { p[0]-- },
			func(p bench.Precision) int64 { return p.FalseDenied },
		},
		{
			"one place too many", "sliding-log",
			func(p []int64) { p[0]++ },
			func(p bench.Precision) int64 { return p.OverAdmitted * max(0, p.MaxInWindow-10) },
		},
		{
			"expired a microsecond early", "ring-log",
			func(p []int64) { p[1]-- },
			func(p bench.Precision) int64 { return p.OverAdmitted },
		},
		{
			"expired a microsecond late", "ring-log",
			func(p []int64) { p[1]++ },
			func(p bench.Precision) int64 { return p.FalseDenied },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			measure := func(b *backend.Backend) bench.Precision {
				r := compare(t, precisionOnly(bench.Config{
					Algorithms: []weir.Algorithm{algorithm(t, c.algorithm)},
					Backends:   []*backend.Backend{b}, Limit: limit(t, "10/1s"), Seed: 1,
				}))
				require.Empty(t, r.Incomplete)
				return r.Results[0].Precision["boundary-burst"]
			}
			if c.algorithm != "fixed-window" { // which over-admits by nature, but never falsely denies
				require.Zero(t, measure(open(t, "memory:")).OverAdmitted)
			}
			require.Zero(t, measure(open(t, "memory:")).FalseDenied)
			require.Positive(t, c.caught(measure(openMutant(t, c.change))))
		})
	}
}

func TestSameSeedSameFigures(t *testing.T) {
	backends := []*backend.Backend{open(t, "memory:")}
	run := func(seed uint64) (all []map[string]bench.Precision) {
		for _, res := range compare(t, precisionOnly(bench.Config{
			Algorithms: algorithms.All()[2:5], Backends: backends, Limit: limit(t, "20/1s"), Seed: seed,
		})).Results {
			all = append(all, res.Precision)
		}
		return all
	}
	first := run(42)
	require.Equal(t, first, run(42))
	require.NotEqual(t, first, run(43))
}

// A log takes no cost above a thousand: a limit so high that a burst needs one is no failure.
func TestCostsThatALogCannotTakeAreNamed(t *testing.T) {
	r := compare(t, precisionOnly(bench.Config{
		Algorithms: []weir.Algorithm{algorithm(t, "sliding-log")},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "1000000000/1h"),
	}))
	require.Empty(t, r.Incomplete)
	p := r.Results[0].Precision["boundary-burst"]
	require.Contains(t, p.NA, "1000")
	require.Zero(t, p.Events)
}
