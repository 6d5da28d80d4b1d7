package algorithms

import (
	_ "embed"
	"strconv"
	"time"

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

var fixedWindowStep = &store.Step{Name: "fixed_window", Func: fixedWindowFunc, Lua: luaBase + fixedWindowLua, Weight: weight(2)}

func (fixedWindow) Name() string   { return "fixed-window" }
func (fixedWindow) String() string { return "fixed-window" }

func (fixedWindow) Shape(l weir.Limit) (weir.Shape, error) {
	w := l.Window.Microseconds()
	params := []int64{l.Count, w}
	return weir.Shape{
		Format:    "2",
		Capacity:  l.Count,
		Guarantee: weir.Guarantee{MaxInWindow: 2 * l.Count},
		MaxTTL:    windowMaxTTL(w),
		Plans: []weir.Plan{
			weir.ScriptPlan(fixedWindowStep, params, 0),
			fixedWindowCounterPlan(l.Count, w),
		},
	}, nil
}

// The state is the window's start plus its count, as one number in decimal digits, so
// that a counter's increment writes it. A count that is not below the window's microseconds would
// run into the next window: then the two stand apart, with a "+" between.
func parseFixedWindow(state []byte, window int64) (start, count int64, ok bool) {
	n, rest, ok := parseDigits(state)
	switch {
	case !ok || n > maxTime:
		return 0, 0, false
	case len(rest) == 0:
		count = n % window
		return n - count, count, true
	case rest[0] != '+':
		return 0, 0, false
	}
	count, rest, ok = parseDigits(rest[1:])
	return n, count, ok && len(rest) == 0 && n%window == 0 && count >= window && count <= weir.MaxCount
}

func appendFixedWindow(b []byte, start, count, window int64) []byte {
	if count < window {
		return strconv.AppendInt(b, start+count, 10)
	}
	b = strconv.AppendInt(b, start, 10)
	return strconv.AppendInt(append(b, '+'), count, 10)
}

// parseDigits reads a number of at most 16 digits, without leading zeros.
func parseDigits(b []byte) (n int64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && i <= 16 && b[i]-'0' <= 9; i++ {
		n = n*10 + int64(b[i]-'0')
	}
	return n, b[i:], i > 0 && i <= 16 && (b[0] != '0' || i == 1)
}

func fixedWindowFunc(state []byte, a store.Args) (res store.Result) {
	limit, window := a.Params[0], a.Params[1]
	start, count, setBack := a.Now-a.Now%window, int64(0), false
	if len(state) != 0 {
		s, c, ok := parseFixedWindow(state, window)
		if !ok {
			return corrupt
		}
		switch {
		case s < start: // over
		case a.OwnTime && s > a.Now+store.ClockTolerance:
			count, setBack = c, true
		default: // now's window, or that of a clock ahead of ours: the later counts
			start, count = s, c
		}
	}
	left := start + window - a.Now
	allowed := a.Cost <= 0 || count+a.Cost <= limit
	write := a.Cost > 0 && allowed || a.Cost < 0 && count > 0 || a.Cost != 0 && setBack
	if allowed {
		count = max(count+a.Cost, 0)
	}
	res.Reply = windowReply(allowed, limit-count, count > 0, left)
	if write {
		res.State = appendFixedWindow(sized(state, fixedWindowState)[:0], start, count, window)
		res.TTL = windowTTL(a, left, window)
	}
	return res
}

// fixedWindowState is room for the state's usual form.
const fixedWindowState = 16

// windowTTL is how long a window's state lives. What a set back clock left behind counts no
// longer than a window, but where one clock rules the key ends with the window, whoever
// writes it: so a write within it need not set the TTL again.
func windowTTL(a store.Args, left, window int64) int64 {
	if !a.OwnTime {
		left = min(left, window)
	}
	return left + margin(window)
}

func windowMaxTTL(window int64) time.Duration {
	return store.TTL(window + margin(window) + store.ClockTolerance)
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
