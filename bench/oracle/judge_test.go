package oracle_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir/bench/oracle"
)

const (
	millisecond int64 = 1_000
	second            = 1_000 * millisecond
	minute            = 60 * second
	year              = 365 * 24 * 60 * minute
)

// ask takes n times one place at t and shows each decision to the judge.
func ask(j *oracle.Judge, m *oracle.Model, key string, t int64, n int) (admitted int) {
	for range n {
		v := m.Take(t, 1)
		j.Observe(key, oracle.Observation{Time: t, Cost: 1, Allowed: v.Allowed, RetryAfter: v.RetryAfter})
		if v.Allowed {
			admitted++
		}
	}
	return admitted
}

func allow(t, cost int64) oracle.Observation {
	return oracle.Observation{Time: t, Cost: cost, Allowed: true, Remaining: -1}
}

func deny(t, cost, retry int64) oracle.Observation {
	return oracle.Observation{Time: t, Cost: cost, RetryAfter: retry, Remaining: -1}
}

func judge(limit, window int64, observations ...oracle.Observation) oracle.Report {
	j := oracle.NewJudge(limit, window)
	for _, o := range observations {
		j.Observe("k", o)
	}
	return j.Report()
}

func TestBoundaryBurst(t *testing.T) {
	for _, c := range []struct {
		name            string
		model           *oracle.Model
		first, second   int
		inWindow, wrong int64
	}{
		{"fixed window", oracle.NewFixedWindow(10, second), 10, 10, 20, 10},
		{"log", oracle.NewLog(10, second), 10, 0, 10, 0},
		{"first hit", oracle.NewFirstHit(10, second), 10, 0, 10, 0},
		{"sliding counter", oracle.NewSlidingCounter(10, second), 10, 0, 10, 0},
		{"gcra", oracle.NewGCRA(10, second, 10), 10, 0, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := oracle.NewJudge(10, second)
			require.Equal(t, c.first, ask(j, c.model, "k", 990*millisecond, 10))
			require.Equal(t, c.second, ask(j, c.model, "k", 1010*millisecond, 10))
			r := j.Report()
			require.Equal(t, c.inWindow, r.MaxInWindow)
			require.Equal(t, c.wrong, r.OverAdmitted)
			require.Zero(t, r.FalseDenied)
			require.EqualValues(t, 10, r.ExactAdmitted)
			require.EqualValues(t, 20, r.Events)
		})
	}
}

// Ninety-nine requests in the last ten seconds of five minutes, as many in the first ten of the next.
func TestNinetyNineAcrossTheBoundary(t *testing.T) {
	run := func(m *oracle.Model) (admitted []int, r oracle.Report) {
		j := oracle.NewJudge(100, 5*minute)
		for _, from := range []int64{4*minute + 50*second, 5 * minute} {
			sum := 0
			for i := range int64(99) {
				sum += ask(j, m, "k", from+i*9*second/98, 1)
			}
			admitted = append(admitted, sum)
		}
		return admitted, j.Report()
	}

	admitted, r := run(oracle.NewFixedWindow(100, 5*minute))
	require.Equal(t, []int{99, 99}, admitted)
	require.EqualValues(t, 198, r.MaxInWindow)
	require.Equal(t, 5*minute+9*second, r.MaxAt)
	require.EqualValues(t, 98, r.OverAdmitted)
	require.EqualValues(t, 100, r.ExactAdmitted)

	admitted, r = run(oracle.NewLog(100, 5*minute))
	require.Equal(t, []int{99, 1}, admitted)
	require.EqualValues(t, 100, r.MaxInWindow)
	require.Zero(t, r.OverAdmitted+r.FalseDenied)
}

func TestWindowIsHalfOpen(t *testing.T) {
	require.EqualValues(t, 1, judge(1, second, allow(7, 1), allow(7+second, 1)).MaxInWindow)
	r := judge(1, second, allow(7, 1), allow(7+second-1, 1))
	require.EqualValues(t, 2, r.MaxInWindow)
	require.Equal(t, 7+second-1, r.MaxAt)
	require.EqualValues(t, 1, r.OverAdmitted)

	require.EqualValues(t, 1, judge(1, second, allow(7, 1), deny(7+second, 1, 1)).FalseDenied)
	require.Zero(t, judge(1, second, allow(7, 1), deny(7+second-1, 1, 1)).FalseDenied)
}

func TestRetryError(t *testing.T) {
	for _, c := range []struct {
		name string
		want oracle.RetryError
		seen []oracle.Observation
	}{
		{"exact", oracle.RetryError{Count: 1}, []oracle.Observation{allow(10, 5), deny(30, 1, 80)}},
		{"too late and too early", oracle.RetryError{Count: 2, Mean: 7.5, Max: 10}, []oracle.Observation{allow(10, 5), deny(30, 1, 90), deny(30, 1, 75)}},
		{"waits for as many as it needs", oracle.RetryError{Count: 3}, []oracle.Observation{
			allow(10, 2), allow(20, 2), allow(25, 1), deny(30, 2, 80), deny(30, 3, 90), deny(30, 5, 95),
		}},
		{"its own excess must leave too", oracle.RetryError{Count: 1}, []oracle.Observation{allow(10, 5), allow(20, 5), deny(30, 1, 90)}},
		{"free now", oracle.RetryError{Count: 1, Mean: 40, Max: 40}, []oracle.Observation{deny(30, 1, 40)}},
		{"never, rightly", oracle.RetryError{}, []oracle.Observation{deny(30, 6, oracle.Never)}},
		{"never, wrongly", oracle.RetryError{Mistaken: 1}, []oracle.Observation{deny(30, 5, oracle.Never)}},
		{"a wait that does not help", oracle.RetryError{Mistaken: 1}, []oracle.Observation{deny(30, 6, 100)}},
		{"counts from the client's own time", oracle.RetryError{Count: 1}, []oracle.Observation{allow(50, 5), deny(30, 1, 120)}},
		{"does not overflow", oracle.RetryError{Count: 3, Mean: math.MaxInt64, Max: math.MaxInt64}, []oracle.Observation{
			deny(0, 1, math.MaxInt64), deny(0, 1, math.MaxInt64), deny(0, 1, math.MaxInt64),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, judge(5, 100, c.seen...).RetryError)
		})
	}
}

func TestCountError(t *testing.T) {
	tell := func(o oracle.Observation, left int64) oracle.Observation {
		o.Remaining = left
		return o
	}
	for _, c := range []struct {
		name string
		want oracle.CountError
		seen []oracle.Observation
	}{
		{"nothing told", oracle.CountError{}, []oracle.Observation{allow(10, 1), deny(20, 1, 5)}},
		{"exact, after the decision", oracle.CountError{Count: 3}, []oracle.Observation{
			tell(allow(10, 3), 2), tell(deny(20, 3, 90), 2), tell(allow(110, 0), 5),
		}},
		{"too many and too few", oracle.CountError{Count: 2, Mean: 1.5, Max: 2}, []oracle.Observation{tell(allow(10, 3), 3), tell(allow(20, 0), 0)}},
		{"no fewer than none are free", oracle.CountError{Count: 1}, []oracle.Observation{tell(allow(10, 9), 0)}},
		{"above the limit", oracle.CountError{Count: 1, Mean: 3, Max: 3}, []oracle.Observation{tell(allow(10, 0), 8)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, judge(5, 100, c.seen...).CountError)
		})
	}
}

func TestTimeThatStepsBack(t *testing.T) {
	r := judge(2, 100, allow(1000, 1), allow(400, 1), allow(1099, 1))
	require.EqualValues(t, 1, r.SteppedBack)
	require.EqualValues(t, 3, r.MaxInWindow, "the admission at 400 counts at 1000")
	require.Equal(t, int64(1099), r.MaxAt)
	require.EqualValues(t, 1, r.OverAdmitted)
}

func TestPeeks(t *testing.T) {
	r := judge(2, 100, allow(0, 3), allow(1, 0), deny(1, 0, 5))
	require.Equal(t, oracle.Report{
		Events: 3, Allowed: 2, Denied: 1, AdmittedCost: 3, Keys: 1,
		MaxInWindow: 3, MaxKey: "k",
		OverAdmitted: 1, FalseDenied: 1,
		ExactAdmitted: 2,
		RetryError:    oracle.RetryError{Count: 1, Mean: 5, Max: 5},
	}, r)
}

func TestDeficitIsOfCostOne(t *testing.T) {
	r := judge(10, 100, allow(0, 3), deny(0, 5, 1), deny(0, 1, 1), allow(0, 2), deny(0, 1, 1))
	require.EqualValues(t, 7, r.MaxDeficit)
	require.EqualValues(t, 3, r.FalseDenied)
	require.Zero(t, judge(10, 100, deny(0, 2, 1)).MaxDeficit)
}

func TestKeysAreJudgedAlone(t *testing.T) {
	j := oracle.NewJudge(2, 100)
	for _, key := range []string{"a", "b", "", "a", "b", "b"} {
		j.Observe(key, allow(5, 1))
	}
	j.Observe("c", allow(1, 1))
	r := j.Report()
	require.Equal(t, 4, r.Keys)
	require.EqualValues(t, 3, r.MaxInWindow)
	require.Equal(t, "b", r.MaxKey)
	require.EqualValues(t, 1, r.OverAdmitted)
	require.Zero(t, r.SteppedBack, "another key's time is no concern of this one")
}

func TestLargeCosts(t *testing.T) {
	const billion = 1_000_000_000
	j := oracle.NewJudge(billion, 10*year)
	for i := range int64(1000) {
		j.Observe("k", allow(i, billion))
	}
	r := j.Report()
	require.EqualValues(t, 1000*billion, r.MaxInWindow)
	require.EqualValues(t, 1000*billion, r.AdmittedCost)
	require.EqualValues(t, billion, r.ExactCost)
	require.EqualValues(t, 999, r.OverAdmitted)
}

// bruteForce judges by looking at every earlier observation and every end of a window, without any memory of its own.
func bruteForce(limit, window int64, keys []string, seen map[string][]oracle.Observation) oracle.Report {
	var r oracle.Report
	var sum, counts, horizon int64
	within := func(grants []oracle.Observation, end int64) (cost int64) {
		for _, g := range grants {
			if end-window < g.Time && g.Time <= end {
				cost += g.Cost
			}
		}
		return cost
	}
	for _, key := range keys {
		r.Keys++
		var own, exact []oracle.Observation
		newest := int64(math.MinInt64)
		for _, o := range seen[key] {
			r.Events++
			newest = max(newest, o.Time)
			horizon = max(horizon, newest)
			grant := oracle.Observation{Time: newest, Cost: o.Cost}
			if o.Time < newest {
				r.SteppedBack++
			}
			if o.Cost == 0 || within(exact, newest)+o.Cost <= limit {
				r.ExactAdmitted++
				r.ExactCost += o.Cost
				exact = append(exact, grant)
			}
			used := within(own, newest)
			fits := o.Cost == 0 || used+o.Cost <= limit
			if o.Allowed {
				r.Allowed++
				r.AdmittedCost += o.Cost
				if !fits {
					r.OverAdmitted++
				}
				own = append(own, grant)
			}
			if o.Remaining >= 0 {
				difference := o.Remaining - max(0, limit-within(own, newest))
				difference = max(difference, -difference)
				counts += difference
				r.CountError.Count++
				r.CountError.Max = max(r.CountError.Max, difference)
			}
			if o.Allowed {
				continue
			}
			r.Denied++
			if fits {
				r.FalseDenied++
			}
			if o.Cost == 1 {
				r.MaxDeficit = max(r.MaxDeficit, limit-used)
			}
			if (o.Cost > limit) != (o.RetryAfter < 0) {
				r.RetryError.Mistaken++
			} else if o.Cost <= limit {
				truth := int64(0)
				if !fits {
					at := newest
					for within(own, at)+o.Cost > limit {
						at++
					}
					truth = at - o.Time
				}
				difference := max(truth-o.RetryAfter, o.RetryAfter-truth)
				sum += difference
				r.RetryError.Count++
				r.RetryError.Max = max(r.RetryError.Max, difference)
			}
		}
		for end := int64(0); end <= horizon+window; end++ {
			r.MaxInWindow = max(r.MaxInWindow, within(own, end))
		}
	}
	if r.CountError.Count > 0 {
		r.CountError.Mean = float64(counts) / float64(r.CountError.Count)
	}
	if r.RetryError.Count > 0 {
		r.RetryError.Mean = float64(sum) / float64(r.RetryError.Count)
	}
	return r
}

func TestJudgeAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 12).Draw(t, "limit")
		window := rapid.Int64Range(1, 40).Draw(t, "window")
		// A limiter that hardly ever denies fills its ring, one that denies all lets it drain.
		generosity := rapid.IntRange(0, 4).Draw(t, "generosity")
		j := oracle.NewJudge(limit, window)
		seen := map[string][]oracle.Observation{}
		var keys []string
		now := int64(0)
		for range rapid.IntRange(1, 150).Draw(t, "events") {
			now += rapid.SampledFrom([]int64{-3, 0, 0, 0, 1, 1, 2, 5, 30}).Draw(t, "step")
			now = max(now, 0)
			key := rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(t, "key")
			o := oracle.Observation{
				Time:       now,
				Cost:       rapid.SampledFrom([]int64{0, 1, 1, 1, 2, 3, 7, 13}).Draw(t, "cost"),
				Allowed:    rapid.IntRange(0, 3).Draw(t, "whim") < generosity,
				RetryAfter: rapid.Int64Range(-1, 60).Draw(t, "retry"),
				Remaining:  rapid.Int64Range(-1, 15).Draw(t, "remaining"),
			}
			if seen[key] == nil {
				keys = append(keys, key)
			}
			seen[key] = append(seen[key], o)
			j.Observe(key, o)
		}
		got, want := j.Report(), bruteForce(limit, window, keys, seen)
		// Which of several equal windows is named depends on the order across keys; that it holds the most does not.
		require.LessOrEqual(t, mostAt(seen[got.MaxKey], window, got.MaxAt), got.MaxInWindow)
		if got.MaxInWindow > 0 {
			require.Equal(t, got.MaxInWindow, mostAt(seen[got.MaxKey], window, got.MaxAt))
		}
		got.MaxKey, got.MaxAt = "", 0
		require.Equal(t, want, got)
	})
}

// mostAt returns the cost admitted in the window that ends at end.
func mostAt(seen []oracle.Observation, window, end int64) (cost int64) {
	newest := int64(math.MinInt64)
	for _, o := range seen {
		newest = max(newest, o.Time)
		if o.Allowed && end-window < newest && newest <= end {
			cost += o.Cost
		}
	}
	return cost
}

// The ring grows, wraps and shrinks many times over; the sum in the window is known at each moment.
func TestLongHistory(t *testing.T) {
	const window = 1000
	j := oracle.NewJudge(1, window)
	now := int64(0)
	for round := range int64(5) {
		for range 5000 {
			now++
			j.Observe("dense", allow(now, round+1))
		}
		require.Equal(t, window*(round+1), j.Report().MaxInWindow)
		for range 500 {
			now += window / 10
			j.Observe("dense", deny(now, 1, 0))
		}
	}
	r := j.Report()
	require.Equal(t, int64(500-9)*5, r.FalseDenied)
	require.EqualValues(t, 1, r.MaxDeficit)
}

func BenchmarkObserve(b *testing.B) {
	for _, keys := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			names := make([]string, keys)
			for i := range names {
				names[i] = fmt.Sprintf("client-%d", i)
			}
			j := oracle.NewJudge(100, second)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				j.Observe(names[i%keys], oracle.Observation{Time: int64(i) * 5, Cost: 1, Allowed: i%3 != 0, RetryAfter: 100})
				i++
			}
			require.EqualValues(b, i, j.Report().Events)
			require.Equal(b, min(i, keys), j.Report().Keys)
		})
	}
}
