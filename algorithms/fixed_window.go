package algorithms

import (
	_ "embed"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// FixedWindow counts in windows aligned to the Unix epoch, [iW, (i+1)W), whatever the
// time zone. It is the usual limiter: one counter, on anything that can increment.
//
// Bound: a window admits at most L. Any span of length W touches at most two aligned
// windows, so it sees at most 2L; it does where L come at the end of one and L at the
// start of the next. A denial means that L were admitted in this aligned window, and
// they all lie within the last W, so no place was free: the deficit is 0.
func FixedWindow() weir.Algorithm { return fixedWindow{} }

type fixedWindow struct{}

//go:embed lua/fixed_window.lua
var fixedWindowLua string

var fixedWindowStep = &store.Step{Name: "fixed_window", Func: fixedWindowFunc, Lua: luaCodec + fixedWindowLua}

func (fixedWindow) Name() string   { return "fixed-window" }
func (fixedWindow) String() string { return "fixed-window" }

func (fixedWindow) Shape(l weir.Limit) (weir.Shape, error) {
	w := l.Window.Microseconds()
	params := []int64{l.Count, w}
	return weir.Shape{
		Format:    "1",
		Capacity:  l.Count,
		Guarantee: weir.Guarantee{MaxInWindow: 2 * l.Count},
		MaxTTL:    store.TTL(w + margin(w)),
		Plans: []weir.Plan{
			weir.ScriptPlan(fixedWindowStep, params, 0),
			fixedWindowCounterPlan(l.Count, w),
		},
	}, nil
}

// The state is the window's index (6 bytes) and its count (4 bytes).
const fixedWindowState = 10

func fixedWindowFunc(state []byte, a store.Args) store.Result {
	limit, window := a.Params[0], a.Params[1]
	index, count, setBack := a.Now/window, int64(0), false
	if len(state) != 0 {
		if len(state) != fixedWindowState {
			return corrupt
		}
		i, c := get48(state), get32(state[6:])
		if i > maxTime/window {
			return corrupt
		}
		switch {
		case i < index: // over
		case a.OwnTime && i*window > a.Now+store.ClockTolerance:
			count, setBack = c, true
		default: // now's window, or that of a clock ahead of ours: the later counts
			index, count = i, c
		}
	}
	end := (index + 1) * window
	allowed := a.Cost <= 0 || count+a.Cost <= limit
	write := a.Cost > 0 && allowed || a.Cost < 0 && count > 0 || a.Cost != 0 && setBack
	if allowed {
		count = max(count+a.Cost, 0)
	}
	res := store.Result{Reply: windowReply(allowed, limit-count, count > 0, end-a.Now)}
	if write {
		res.State = sized(state, fixedWindowState)
		put48(res.State, index)
		put32(res.State[6:], count)
		res.TTL = min(end-a.Now, window) + margin(window)
	}
	return res
}

// windowReply is the reply of the window counters that open again at one instant.
func windowReply(allowed bool, left int64, used bool, untilEnd int64) store.Reply {
	r := store.Reply{Allowed: allowed, Remaining: max(left, 0)}
	if !allowed {
		r.RetryAfter = untilEnd
	}
	if used {
		r.ResetAfter = untilEnd
	}
	return r
}
