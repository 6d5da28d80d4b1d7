package algorithms

import (
	_ "embed"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// SlidingCounter keeps two counts, of the aligned window that runs and of the one
// before, and weighs the older by the share of it that the last W still covers: at e
// into the window it admits n if
//
//	prev * (W-e)/W + cur + n <= L
//
// compared exactly, with nothing floored. It is right where the older window's
// requests were evenly spread, and errs both ways where they were not.
//
// Bound: a span of length W covers the end of one window and the start, up to e, of
// the next. The old window's requests in the span number at most prev <= L, the new
// one's at most cur <= L - prev*(W-e)/W. With prev = L, all at the window's very end,
// the new one admits L*e/W, which is below L for every e below W: 2L-1 in all.
// Deficit: prev = L at the window's start, all of them out of the last W by e, still
// weigh L*(W-e)/W; just after the boundary that is all L.
func SlidingCounter() weir.Algorithm { return slidingCounter{} }

type slidingCounter struct{}

//go:embed lua/sliding_counter.lua
var slidingCounterLua string

var slidingCounterStep = &store.Step{
	Name: "sliding_counter", Func: slidingCounterFunc, Lua: luaBase + luaPut + luaArith + slidingCounterLua, Weight: weight(3),
}

func (slidingCounter) Name() string   { return "sliding-counter" }
func (slidingCounter) String() string { return "sliding-counter" }

func (slidingCounter) Shape(l weir.Limit) (weir.Shape, error) {
	w := l.Window.Microseconds()
	params := []int64{l.Count, w}
	return weir.Shape{
		Format:    "1",
		Capacity:  l.Count,
		Guarantee: weir.Guarantee{MaxInWindow: 2*l.Count - 1, Deficit: l.Count},
		MaxTTL:    store.TTL(2*w + store.ClockTolerance),
		Plans: []weir.Plan{
			weir.ScriptPlan(slidingCounterStep, params, 0),
			weir.SwapPlan(slidingCounterStep, params),
			slidingCounterCounterPlan(l.Count, w),
		},
	}, nil
}

// The state is the window's index (6 bytes), the count of the one before and its own
// (4 bytes each).
const slidingCounterState = 14

func slidingCounterFunc(state []byte, a store.Args) (res store.Result) {
	limit, window := a.Params[0], a.Params[1]
	w := weighted{limit: limit, window: window, index: a.Now / window}
	setBack := false
	if len(state) != 0 {
		if len(state) != slidingCounterState {
			return corrupt
		}
		i, prev, cur := get48(state), get32(state[6:]), get32(state[10:])
		if i > maxTime/window || prev > weir.MaxCount || cur > weir.MaxCount {
			return corrupt
		}
		switch {
		case i < w.index-1: // both over
		case i == w.index-1:
			w.prev = cur
		case i == w.index:
			w.prev, w.cur = prev, cur
		case a.OwnTime && i*window > a.Now+store.ClockTolerance:
			w.prev, w.cur, setBack = prev, cur, true
		default: // a clock ahead of ours: the later counts
			w.index, w.prev, w.cur = i, prev, cur
		}
	}
	w.elapsed = max(a.Now-w.index*window, 0)
	allowed := a.Cost <= 0 || w.room() >= a.Cost
	write := a.Cost > 0 && allowed || a.Cost < 0 && w.cur > 0 || a.Cost != 0 && setBack
	if allowed {
		w.cur = max(w.cur+a.Cost, 0)
	}
	res.Reply = w.reply(a.Now, allowed, a.Cost)
	if write {
		res.State = sized(state, slidingCounterState)
		put48(res.State, w.index)
		put32(res.State[6:], w.prev)
		put32(res.State[10:], w.cur)
		res.TTL = max(w.idle()-a.Now, 1)
		if !a.OwnTime {
			res.TTL = min(res.TTL, 2*window)
		}
	}
	return res
}

// weighted is the pair of windows at one instant, shared by all plans.
type weighted struct {
	limit, window  int64
	index, elapsed int64 // the window that runs, and how far
	prev, cur      int64
}

// room is L - cur - prev*(W-e)/W, rounded down: the largest cost that fits. Below
// zero, none does.
func (w *weighted) room() int64 {
	gone, _ := mulAddDiv(w.prev, w.elapsed, 0, w.window)
	return w.limit - w.cur - (w.prev - gone)
}

// admits is the first instant at which the cost fits if nothing else comes.
func (w *weighted) admits(cost int64) int64 {
	if left := w.limit - w.cur - cost; left >= 0 { // in this window, or as the next starts
		covered, _ := mulAddDiv(left, w.window, 0, w.prev)
		return (w.index+1)*w.window - covered
	}
	// In the next, once enough of this window's own count has left.
	covered, _ := mulAddDiv(w.limit-cost, w.window, 0, w.cur)
	return (w.index+2)*w.window - covered
}

// idle is the instant from which the pair weighs nothing; zero if it does already.
func (w *weighted) idle() int64 {
	switch {
	case w.cur > 0:
		return (w.index + 2) * w.window
	case w.prev > 0:
		return (w.index + 1) * w.window
	default:
		return 0
	}
}

// reply tells what the pair says at now, after the decision. What others are about to
// give back can make a cost fit that was denied a moment ago; then the earliest
// instant to come again is the next microsecond.
func (w *weighted) reply(now int64, allowed bool, cost int64) store.Reply {
	r := store.Reply{Allowed: allowed, Remaining: max(w.room(), 0)}
	if !allowed {
		r.RetryAfter = 1
		if w.room() < cost {
			r.RetryAfter = w.admits(cost) - now
		}
	}
	if idle := w.idle(); idle > 0 {
		r.ResetAfter = idle - now
	}
	return r
}
