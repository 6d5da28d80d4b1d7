package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type grant struct{ time, cost int64 }

func sum(grants []grant, counts func(grant) bool) (cost int64) {
	for _, g := range grants {
		if counts(g) {
			cost += g.cost
		}
	}
	return cost
}

func windowOf(t, window int64) int64 {
	i := t / window
	if i*window > t {
		i--
	}
	return i
}

// definitions say of each rule, from nothing but what was admitted before, whether n more fit at t.
var definitions = map[string]func(grants []grant, limit, window, burst, t, n int64) bool{
	"log": func(grants []grant, limit, window, _, t, n int64) bool {
		return n+sum(grants, func(g grant) bool { return t-g.time < window }) <= limit
	},
	"fixed window": func(grants []grant, limit, window, _, t, n int64) bool {
		return n+sum(grants, func(g grant) bool { return windowOf(g.time, window) == windowOf(t, window) }) <= limit
	},
	"first hit": func(grants []grant, limit, window, _, t, n int64) bool {
		if len(grants) == 0 {
			return n <= limit
		}
		start := grants[0].time
		for _, g := range grants {
			if g.time-start >= window {
				start = g.time
			}
		}
		if t-start >= window {
			return n <= limit
		}
		return n+sum(grants, func(g grant) bool { return g.time >= start }) <= limit
	},
	"sliding counter": func(grants []grant, limit, window, _, t, n int64) bool {
		i := windowOf(t, window)
		before := sum(grants, func(g grant) bool { return windowOf(g.time, window) == i-1 })
		current := sum(grants, func(g grant) bool { return windowOf(g.time, window) == i })
		return before*((i+1)*window-t)+(current+n)*window <= limit*window
	},
	// The leaky bucket: a place fills it by window, and limit leaks in each microsecond.
	"gcra": func(grants []grant, limit, window, burst, t, n int64) bool {
		level, last := int64(0), t
		for i, g := range grants {
			if i == 0 {
				last = g.time
			}
			level = max(0, level-limit*(g.time-last)) + window*g.cost
			last = g.time
		}
		return max(0, level-limit*(t-last))+window*n <= window*burst
	},
}

func TestModelsAgainstDefinitions(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				limit := rapid.Int64Range(1, 9).Draw(t, "limit")
				window := rapid.Int64Range(1, 60).Draw(t, "window")
				burst := rapid.Int64Range(1, 12).Draw(t, "burst")
				m, fits := kind.make(limit, window, burst), definitions[kind.name]
				var grants []grant
				now := rapid.Int64Range(-100, 100).Draw(t, "start")
				for range rapid.IntRange(1, 80).Draw(t, "takes") {
					now += rapid.SampledFrom([]int64{0, 0, 1, 1, 2, 7, 20, 45}).Draw(t, "step")
					n := rapid.SampledFrom([]int64{1, 1, 1, 2, 3, 8, 13}).Draw(t, "n")
					want := fits(grants, limit, window, burst, now, n)
					require.Equal(t, want, m.Take(now, n).Allowed, "Take(%d, %d) after %v", now, n, grants)
					if want {
						grants = append(grants, grant{now, n})
					}
				}
			})
		})
	}
}
