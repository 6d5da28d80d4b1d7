package algorithms

import (
	_ "embed"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// FixedWindowFirstHit counts in windows that start at the first request that finds
// none running, [s, s+W).
//
// Bound: take any span of length W. The first of its requests lies in some window
// that started at s; at most one further window can start within the span, since
// windows do not overlap. Were the span to see L of both, the first window's L would
// all lie in the span, its first request at s with them; then the second window,
// which starts at s+W at the earliest, would start just outside. So the most is 2L-1:
// one request opens the window early, L-1 come at its end and L in the next. As for
// the deficit, a denial means that L were admitted since s, less than W ago: 0.
func FixedWindowFirstHit() weir.Algorithm { return firstHit{} }

type firstHit struct{}

//go:embed lua/fixed_window_first_hit.lua
var firstHitLua string

var firstHitStep = &store.Step{Name: "fixed_window_first_hit", Func: firstHitFunc, Lua: luaBase + luaGet + luaPut + firstHitLua, Weight: weight(3)}

func (firstHit) Name() string   { return "fixed-window-first-hit" }
func (firstHit) String() string { return "fixed-window-first-hit" }

func (firstHit) Shape(l weir.Limit) (weir.Shape, error) {
	w := l.Window.Microseconds()
	params := []int64{l.Count, w}
	return weir.Shape{
		Format:    "1",
		Capacity:  l.Count,
		Guarantee: weir.Guarantee{MaxInWindow: 2*l.Count - 1},
		MaxTTL:    windowMaxTTL(w),
		Plans: []weir.Plan{
			weir.ScriptPlan(firstHitStep, params, 0),
			weir.SwapPlan(firstHitStep, params),
		},
	}, nil
}

// The state is the window's start (7 bytes) and its count (4 bytes).
const firstHitState = 11

func firstHitFunc(state []byte, a store.Args) store.Result {
	limit, window := a.Params[0], a.Params[1]
	start, count, setBack := a.Now, int64(0), false
	if len(state) != 0 {
		if len(state) != firstHitState {
			return corrupt
		}
		s, c := get56(state), get32(state[7:])
		if s > maxTime {
			return corrupt
		}
		switch {
		case c == 0 || s+window <= a.Now: // all given back, or over
		case a.OwnTime && s > a.Now+store.ClockTolerance:
			count, setBack = c, true
		default:
			start, count = s, c
		}
	}
	end := start + window
	allowed := a.Cost <= 0 || count+a.Cost <= limit
	write := a.Cost > 0 && allowed || a.Cost < 0 && count > 0 || a.Cost != 0 && setBack
	if allowed {
		count = max(count+a.Cost, 0)
	}
	res := store.Result{Reply: windowReply(allowed, limit-count, count > 0, end-a.Now)}
	if write {
		res.State = sized(state, firstHitState)
		put56(res.State, start)
		put32(res.State[7:], count)
		res.TTL = windowTTL(a, end-a.Now, window)
	}
	return res
}
