package oracle_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir/bench/oracle"
)

type take struct {
	at, n int64
	want  oracle.Verdict
}

func yes(remaining, reset int64) oracle.Verdict {
	return oracle.Verdict{Allowed: true, Remaining: remaining, ResetAfter: reset}
}

func no(remaining, retry, reset int64) oracle.Verdict {
	return oracle.Verdict{Remaining: remaining, RetryAfter: retry, ResetAfter: reset}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name  string
		model *oracle.Model
		takes []take
	}{
		{"log", oracle.NewLog(3, 100), []take{
			{7, 0, yes(3, 0)},
			{7, 4, no(3, oracle.Never, 0)},
			{10, 1, yes(2, 100)},
			{20, 2, yes(0, 100)},
			{30, 0, yes(0, 90)},
			{30, 1, no(0, 80, 90)},
			{30, 2, no(0, 90, 90)},
			{109, 1, no(0, 1, 11)},
			{110, 1, yes(0, 100)},
			{120, 1, yes(1, 100)},
		}},
		{"fixed window", oracle.NewFixedWindow(3, 100), []take{
			{50, 0, yes(3, 0)},
			{50, 2, yes(1, 50)},
			{60, 2, no(1, 40, 40)},
			{60, 4, no(1, oracle.Never, 40)},
			{99, 1, yes(0, 1)},
			{99, 1, no(0, 1, 1)},
			{100, 3, yes(0, 100)},
		}},
		{"fixed window before the epoch", oracle.NewFixedWindow(1, 100), []take{
			{-150, 1, yes(0, 50)},
			{-101, 1, no(0, 1, 1)},
			{-100, 1, yes(0, 100)},
			{-1, 1, no(0, 1, 1)},
			{0, 1, yes(0, 100)},
		}},
		{"first hit", oracle.NewFirstHit(3, 100), []take{
			{20, 0, yes(3, 0)},
			{30, 4, no(3, oracle.Never, 0)},
			{50, 1, yes(2, 100)},
			{149, 2, yes(0, 1)},
			{149, 1, no(0, 1, 1)},
			{150, 0, yes(3, 0)},
			{170, 3, yes(0, 100)},
			{250, 1, no(0, 20, 20)},
		}},
		{"sliding counter", oracle.NewSlidingCounter(10, 100), []take{
			{0, 10, yes(0, 200)},
			{0, 1, no(0, 110, 200)}, // at 110 the window before weighs 9
			{100, 1, no(0, 10, 100)},
			{109, 1, no(0, 1, 91)},
			{110, 1, yes(0, 190)},
			{111, 9, no(0, 89, 189)}, // at 199 the ten still weigh a tenth of one
			{111, 10, no(0, 189, 189)},
			{199, 9, no(8, 1, 101)},
			{200, 9, yes(0, 200)},
		}},
		// 7 places in 100: one comes back every 14 2/7 microseconds.
		{"gcra", oracle.NewGCRA(7, 100, 2), []take{
			{0, 0, yes(2, 0)},
			{0, 3, no(2, oracle.Never, 0)},
			{0, 1, yes(1, 15)},
			{0, 1, yes(0, 29)},
			{0, 1, no(0, 15, 29)},
			{14, 1, no(0, 1, 15)},
			{15, 1, yes(0, 28)}, // back at 42 6/7
			{28, 1, no(0, 1, 15)},
			{29, 0, yes(1, 14)},
			{43, 2, yes(0, 29)},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, k := range c.takes {
				require.Equal(t, k.want, c.model.Take(k.at, k.n), "step %d: Take(%d, %d)", i, k.at, k.n)
			}
		})
	}
}

func TestGCRAKeepsTheRemainder(t *testing.T) {
	m := oracle.NewGCRA(7, second, 7)
	require.True(t, m.Take(0, 7).Allowed)
	for i := int64(1); i <= 70; i++ {
		require.False(t, m.Take((i*second-1)/7, 1).Allowed, "place %d", i)
		require.True(t, m.Take((i*second+6)/7, 1).Allowed, "place %d", i)
	}
}

func TestLargestLimits(t *testing.T) {
	const billion = 1_000_000_000
	now := 2026 * year
	for _, c := range []struct {
		name  string
		model *oracle.Model
	}{
		{"log", oracle.NewLog(billion, 10*year)},
		{"fixed window", oracle.NewFixedWindow(billion, 10*year)},
		{"first hit", oracle.NewFirstHit(billion, 10*year)},
		{"sliding counter", oracle.NewSlidingCounter(billion, 10*year)},
		{"gcra", oracle.NewGCRA(billion, 10*year, billion)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := c.model.Clone()
			require.EqualValues(t, 1, m.Take(now, billion-1).Remaining)
			require.True(t, m.Take(now, 1).Allowed)
			v := m.Take(now, billion)
			require.False(t, v.Allowed)
			require.False(t, m.Clone().Take(now+v.RetryAfter-1, billion).Allowed)
			require.True(t, m.Clone().Take(now+v.RetryAfter, billion).Allowed)
		})
	}

	v := oracle.NewGCRA(1, 10*year, billion).Take(now, billion)
	require.True(t, v.Allowed)
	require.EqualValues(t, math.MaxInt64, v.ResetAfter, "ten billion years do not fit")
}

func TestArgumentsBelowOneAreReadAsOne(t *testing.T) {
	for _, m := range []*oracle.Model{
		oracle.NewLog(0, -1), oracle.NewFixedWindow(0, 0), oracle.NewFirstHit(-5, 0),
		oracle.NewSlidingCounter(0, 0), oracle.NewGCRA(0, 0, 0),
	} {
		require.Equal(t, yes(1, 0), m.Take(5, -3))
		require.True(t, m.Take(5, 1).Allowed)
		require.False(t, m.Take(5, 1).Allowed)
	}
	require.EqualValues(t, 1, judge(0, 0, allow(0, 1), allow(1, 1)).MaxInWindow)
}

// kinds are all models, with what they promise of their worst window and their largest deficit.
var kinds = []struct {
	name         string
	make         func(limit, window, burst int64) *oracle.Model
	most, spared func(limit, burst int64) int64
	capacity     func(limit, burst int64) int64
}{
	{
		"log", func(l, w, _ int64) *oracle.Model { return oracle.NewLog(l, w) },
		func(l, _ int64) int64 { return l }, func(_, _ int64) int64 { return 0 }, ofLimit,
	},
	{
		"fixed window", func(l, w, _ int64) *oracle.Model { return oracle.NewFixedWindow(l, w) },
		func(l, _ int64) int64 { return 2 * l }, func(_, _ int64) int64 { return 0 }, ofLimit,
	},
	{
		"first hit", func(l, w, _ int64) *oracle.Model { return oracle.NewFirstHit(l, w) },
		func(l, _ int64) int64 { return 2*l - 1 }, func(_, _ int64) int64 { return 0 }, ofLimit,
	},
	{
		"sliding counter", func(l, w, _ int64) *oracle.Model { return oracle.NewSlidingCounter(l, w) },
		func(l, _ int64) int64 { return 2*l - 1 }, ofLimit, ofLimit,
	},
	{
		"gcra", oracle.NewGCRA,
		func(l, b int64) int64 { return l + b - 1 }, func(l, b int64) int64 { return max(0, l-b) }, ofBurst,
	},
}

func ofLimit(limit, _ int64) int64 { return limit }
func ofBurst(_, burst int64) int64 { return burst }

// Every verdict is held against its definition, by asking clones at other instants and for other costs;
// and the whole run against the bounds that the algorithm is known for.
func TestVerdictsMeanWhatTheySay(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				limit := rapid.Int64Range(1, 9).Draw(t, "limit")
				window := rapid.Int64Range(1, 60).Draw(t, "window")
				burst := rapid.Int64Range(1, 12).Draw(t, "burst")
				m := kind.make(limit, window, burst)
				capacity := kind.capacity(limit, burst)
				j := oracle.NewJudge(limit, window)

				now := rapid.Int64Range(-100, 100).Draw(t, "start")
				for range rapid.IntRange(1, 40).Draw(t, "takes") {
					now += rapid.SampledFrom([]int64{0, 0, 1, 1, 2, 7, 20, 45}).Draw(t, "step")
					n := rapid.SampledFrom([]int64{0, 1, 1, 1, 2, 3, 8, 13}).Draw(t, "n")
					before, peeked := m.Clone(), m.Clone().Take(now, 0)
					v := m.Take(now, n)
					j.Observe("k", oracle.Observation{Time: now, Cost: n, Allowed: v.Allowed, RetryAfter: v.RetryAfter})

					switch {
					case v.Allowed:
						require.Zero(t, v.RetryAfter)
						require.Equal(t, peeked.Remaining-n, v.Remaining)
					case n > capacity:
						require.Equal(t, oracle.Never, v.RetryAfter)
					default:
						for d := int64(1); d < v.RetryAfter; d++ {
							require.False(t, before.Clone().Take(now+d, n).Allowed, "admitted %d early", v.RetryAfter-d)
						}
						require.True(t, before.Clone().Take(now+v.RetryAfter, n).Allowed)
					}
					if !v.Allowed || n == 0 {
						require.Equal(t, peeked, m.Clone().Take(now, 0), "a denial or a peek left a trace")
					}
					require.GreaterOrEqual(t, v.Remaining, int64(0))
					require.LessOrEqual(t, v.Remaining, capacity)
					if v.Remaining > 0 {
						require.True(t, m.Clone().Take(now, v.Remaining).Allowed)
					}
					require.False(t, m.Clone().Take(now, v.Remaining+1).Allowed)
					requireReset(t, m, kind.make(limit, window, burst), now, v.ResetAfter)
				}

				r := j.Report()
				require.LessOrEqual(t, r.MaxInWindow, max(kind.most(limit, burst), 1))
				require.LessOrEqual(t, r.MaxDeficit, kind.spared(limit, burst))
				if kind.name == "log" {
					require.Zero(t, r.OverAdmitted+r.FalseDenied)
					require.Equal(t, r.ExactAdmitted, r.Allowed)
					require.Zero(t, r.RetryError.Max+r.RetryError.Mistaken)
				}
			})
		})
	}
}

// requireReset checks that reset microseconds from now, and no earlier, a model is as good as new.
func requireReset(t *rapid.T, used, fresh *oracle.Model, now, reset int64) {
	asNew := fresh.Clone().Take(now+reset, 0)
	require.Equal(t, asNew, used.Clone().Take(now+reset, 0))
	if reset > 0 {
		require.EqualValues(t, 1, used.Clone().Take(now+reset-1, 0).ResetAfter)
	}
	used, fresh = used.Clone(), fresh.Clone()
	for at := now + reset; at < now+reset+20; at += 3 {
		require.Equal(t, fresh.Take(at, 1), used.Take(at, 1))
	}
}

// The worst cases are not only never exceeded, they are reached.
func TestWorstCasesAreReached(t *testing.T) {
	const limit, window = 10, 20
	for _, c := range []struct {
		name          string
		model         *oracle.Model
		most, deficit int64
		bursts        [][2]int64 // time and number of requests
	}{
		{"log", oracle.NewLog(limit, window), 10, 0, [][2]int64{{19, 30}, {20, 30}, {39, 30}}},
		{"fixed window", oracle.NewFixedWindow(limit, window), 20, 0, [][2]int64{{19, 30}, {20, 30}}},
		{"first hit", oracle.NewFirstHit(limit, window), 19, 0, [][2]int64{{0, 1}, {19, 30}, {20, 30}}},
		{"sliding counter", oracle.NewSlidingCounter(limit, window), 19, 10, [][2]int64{{0, 10}, {20, 1}, {59, 10}, {78, 10}}},
		{"gcra", oracle.NewGCRA(limit, window, limit), 19, 0, each(0, 19, 20)},
		{"gcra, small burst", oracle.NewGCRA(limit, window, 4), 13, 6, each(0, 19, 20)},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := oracle.NewJudge(limit, window)
			for _, burst := range c.bursts {
				ask(j, c.model, "k", burst[0], int(burst[1]))
			}
			r := j.Report()
			require.Equal(t, c.most, r.MaxInWindow)
			require.Equal(t, c.deficit, r.MaxDeficit)
		})
	}
}

// each returns n requests at every microsecond from first to last.
func each(first, last, n int64) (bursts [][2]int64) {
	for at := first; at <= last; at++ {
		bursts = append(bursts, [2]int64{at, n})
	}
	return bursts
}
