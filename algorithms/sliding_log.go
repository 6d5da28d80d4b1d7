package algorithms

import (
	_ "embed"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// SlidingLog keeps the time of every admitted request of the last W, and admits n if
// at most L-n are there. On Redis the log is a sorted set, trimmed and counted by
// score in one script; in this process it is a ring of times. A cost of n is n
// entries, so one request costs at most 1,000.
//
// Bound: a request admitted at t leaves at most L in (t-W, t], and any window's
// content is at its most at an admission; so L. A denial means that the cost did not
// fit: the deficit is 0. It is the exact algorithm, and needs memory for L times.
func SlidingLog() weir.Algorithm { return slidingLog{} }

type slidingLog struct{}

//go:embed lua/sliding_log.lua
var slidingLogLua string

var slidingLogStep = &store.Step{
	Name: "sliding_log", Func: logFunc, Lua: luaBase + luaLog + slidingLogLua, Keyed: true, Weight: logWeight,
}

func (slidingLog) Name() string   { return "sliding-log" }
func (slidingLog) String() string { return "sliding-log" }

func (slidingLog) Shape(l weir.Limit) (weir.Shape, error) {
	return logShape(l, slidingLogStep, store.CapSortedSet, false), nil
}

// maxEntries bounds the cost of one request to a log with an entry for each.
const maxEntries = 1000

// logShape is what the logs that keep one entry per request have in common.
func logShape(l weir.Limit, step *store.Step, structure store.Capability, countDenied bool) weir.Shape {
	w := l.Window.Microseconds()
	params := []int64{l.Count, w, 0}
	g := weir.Guarantee{MaxInWindow: l.Count}
	if countDenied {
		params[2] = 1
		g.Deficit, g.DeniedCount = l.Count, true
	}
	plan := weir.ScriptPlan(step, params, structure)
	plan.MaxCost = maxEntries
	return weir.Shape{
		Format:    "1",
		Capacity:  l.Count,
		Guarantee: g,
		MaxTTL:    store.TTL(w + margin(w)),
		Plans:     []weir.Plan{plan},
	}
}

// logWeight estimates the server's microseconds: a handful of commands, and one entry
// for each request.
func logWeight(a store.Args) int { return 12 + int(max(a.Cost, -a.Cost)) }

// logFunc is the Go twin of both logs. Its state is a [ring] of times, oldest first.
// The parameters are the limit, the window, and whether denied requests are logged.
func logFunc(state []byte, a store.Args) store.Result {
	limit, window, countDenied := a.Params[0], a.Params[1], a.Params[2] == 1
	r, ok := openRing(state)
	if !ok {
		return corrupt
	}
	at, shift := a.Now, int64(0)
	if n := r.len(); n > 0 {
		switch newest := r.at(n - 1); {
		case newest <= a.Now:
		case a.OwnTime && newest > a.Now+store.ClockTolerance:
			shift = newest - a.Now // the clock was set back: the log moves with it
		default:
			at = newest // a clock ahead of ours: the later time counts
		}
	}
	expired := r.firstAfter(at + shift - window)
	live := int64(r.len() - expired)
	allowed := a.Cost <= 0 || live+a.Cost <= limit
	logged := a.Cost > 0 && (allowed || countDenied)
	back := min(-a.Cost, live) // to be given back

	if logged || back > 0 || shift > 0 && a.Cost != 0 {
		r.dropOldest(expired)
		r.shift(shift)
		shift, expired = 0, 0
		if logged {
			// Only count-denied comes here with more than fits. What it drops it replaces,
			// so that raising the limit again finds no free places.
			most := max(limit, live)
			r.dropOldest(int(max(0, live+a.Cost-most)))
			r.push(at, int(a.Cost), int(most))
		}
		if back > 0 {
			r.dropNewest(int(back))
		}
		live = int64(r.len())
	}

	res := store.Result{Reply: store.Reply{Allowed: allowed, Remaining: max(limit-live, 0)}}
	if !allowed {
		leaves := r.at(expired + int(live+a.Cost-limit) - 1) // the last that must go
		leaves = min(leaves, r.at(r.len()-1))                // also of times that somebody else left out of order
		res.Reply.RetryAfter = leaves - shift + window - a.Now
	}
	if live > 0 {
		res.Reply.ResetAfter = r.at(r.len()-1) - shift + window - a.Now
	}
	if r.changed {
		res.State = r.state
		res.TTL = window + margin(window)
	}
	return res
}
