package conformance

import (
	"encoding/binary"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// brokenLog is the exact log in its plainest form, a time of 8 bytes per admitted
// request, with at most one fault.
type brokenLog struct {
	fault string
	*shared
}

// shared is what the processes that run a broken log have in common.
type shared struct {
	crowd *rendezvous
	old   stale[store.Reply]
}

func newBrokenLog(fault string) brokenLog {
	return brokenLog{fault, &shared{crowd: newRendezvous(33)}}
}

func (brokenLog) Name() string   { return "log" }
func (brokenLog) String() string { return "log" }

// The faults of the step.
const (
	closedWindow   = "the window is closed: an event exactly one window old still counts"
	oneTooMany     = "admits one beyond the limit"
	countsFirst    = "counts before it trims"
	recordsDenied  = "records denied requests"
	deniedShows    = "denials after the first are taken off what is said to remain"
	peekRecords    = "a peek is recorded"
	peekDenied     = "a peek is denied where nothing remains"
	neverAll       = "never admits all of the capacity at once"
	peekTrims      = "a peek on an unused key writes an empty state"
	retryOfNewest  = "tells to wait for the newest to leave, not for the oldest"
	retryOfOne     = "tells a cost of several to wait for one place"
	retryTooSoon   = "tells to wait a millisecond less"
	trustsBack     = "trusts a clock that steps back, and forgets what is later"
	neverForgives  = "a clock that was set back locks everybody out"
	refundsNothing = "a refund gives nothing back"
	refundsTwice   = "a refund gives back one more"
	firstLimit     = "keeps the limit with which the key was created"
	admitsByOwn    = "admits all by the store's own time"
	livesLong      = "its keys live for weeks"
	readsAnything  = "takes what it does not recognise for an empty state"
)

// The faults of the plan and the shape.
const (
	looksFirst      = "looks first and writes later"
	mergesKeys      = "keys that differ in case are one"
	dropsPrefix     = "the prefix is not part of the key"
	twoSlots        = "its keys are in two slots"
	errorAllows     = "takes an error for allowed"
	admitsCrowds    = "admits a crowd without counting it, by a caller's time"
	peeksOld        = "a peek while a request goes on tells what was before the last one"
	looksTwice      = "peeks before each request"
	otherStep       = "runs another step than it declares"
	otherRefunds    = "gives back otherwise than the step that it declares"
	understates     = "declares one less in a window than it admits"
	overCapacity    = "declares a capacity that is never admitted"
	forgetsOnChange = "another limit starts afresh"
	resetElsewhere  = "Reset deletes another key"
	deniesLocally   = "denies by itself, after a Reset too, where one request took everything"
	declaresWeeks   = "declares a TTL of ten windows"
)

func (b brokenLog) Shape(l weir.Limit) (weir.Shape, error) {
	shape := weir.Shape{
		Format: "1", Capacity: l.Count, Guarantee: weir.Guarantee{MaxInWindow: l.Count},
		MaxTTL: 2 * l.Window,
	}
	params := []int64{l.Count, l.Window.Microseconds()}
	step := &store.Step{Name: "log", Func: b.decide}
	plan := weir.ScriptPlan(step, params, 0)
	switch b.fault {
	case understates:
		shape.Guarantee.MaxInWindow--
	case overCapacity:
		shape.Capacity += 2
	case forgetsOnChange:
		shape.Format += "," + l.String()[:1]
	case otherStep:
		plan.Step = &store.Step{Name: "log", Func: newBrokenLog(oneTooMany).decide}
	case otherRefunds:
		plan.Step = &store.Step{Name: "log", Func: newBrokenLog(refundsTwice).decide}
	case declaresWeeks:
		shape.MaxTTL = 10*l.Window + time.Minute
	}
	bind := plan.Bind
	plan.Bind = func(binding weir.Binding) (weir.Bound, error) {
		if b.fault == looksFirst {
			return &racyBound{binding: binding, step: step, params: params}, nil
		}
		if b.fault == dropsPrefix {
			binding.Space = "log/"
		}
		bound, err := bind(binding)
		return &faultyBound{Bound: bound, log: b, binding: binding, limit: l, full: map[string]int64{}}, err
	}
	shape.Plans = []weir.Plan{plan}
	return shape, nil
}

func (b brokenLog) decide(state []byte, a store.Args) store.Result {
	limit, window := a.Params[0], a.Params[1]
	if b.fault == admitsByOwn && a.OwnTime {
		return store.Result{Reply: store.Reply{Allowed: true}}
	}
	denials := int64(0)
	if b.fault == deniedShows && len(state)%8 == 1 {
		denials, state = int64(state[len(state)-1]), state[:len(state)-1]
	}
	if len(state)%8 != 0 {
		if b.fault != readsAnything {
			return store.Result{Corrupt: true}
		}
		state = nil
	}
	var times []int64
	for ; len(state) > 0; state = state[8:] {
		times = append(times, int64(binary.LittleEndian.Uint64(state)))
	}
	if b.fault == firstLimit && len(times) > 0 { // the first entry is the limit
		limit, times = times[0], times[1:]
	}
	counted := int64(len(times))
	now, changed := a.Now, false
	if n := len(times); n > 0 && times[n-1] > a.Now {
		switch ahead := times[n-1] - a.Now; {
		case b.fault == trustsBack:
			times = nil
		case a.OwnTime && ahead > store.ClockTolerance && b.fault != neverForgives:
			for i := range times {
				times[i] -= ahead
			}
			changed = true
		default:
			now = times[n-1]
		}
	}
	end := now - window
	if b.fault == closedWindow {
		end--
	}
	for len(times) > 0 && times[0] <= end {
		times = times[1:]
	}
	live := int64(len(times))
	if b.fault == countsFirst {
		live = max(live, min(counted, limit))
	}
	most := limit
	if b.fault == oneTooMany {
		most++
	}
	res := store.Result{TTL: window + min(window, 1_000_000)}
	r := &res.Reply
	r.Allowed = a.Cost <= 0 || live+a.Cost <= most
	switch {
	case b.fault == peekDenied && a.Cost == 0 && live >= limit:
		r.RetryAfter = times[0] + window - a.Now
		r.Allowed = r.RetryAfter <= 0
	case b.fault == neverAll && a.Cost == limit && limit > 1:
		r.Allowed, r.RetryAfter = false, window
	}
	switch {
	case a.Cost < 0:
		back := -a.Cost
		if b.fault == refundsNothing {
			back = 0
		} else if b.fault == refundsTwice {
			back++
		}
		back = min(back, live)
		times, changed = times[:live-back], back > 0
	case r.RetryAfter > 0:
	case r.Allowed:
		for range a.Cost {
			times = append(times, now)
		}
		changed = a.Cost > 0
	case len(times) == 0:
		r.RetryAfter = window
	default:
		leaves := times[min(live+a.Cost-limit, int64(len(times)))-1]
		if b.fault == retryOfOne {
			leaves = times[max(live+1-limit, 1)-1]
		}
		if b.fault == retryOfNewest {
			leaves = times[len(times)-1]
		}
		r.RetryAfter = max(leaves+window-a.Now, 1)
		if b.fault == retryTooSoon {
			r.RetryAfter = max(r.RetryAfter-1000, 1)
		}
		if b.fault == recordsDenied {
			times, changed = append(times, now), true
		}
		if b.fault == deniedShows {
			denials, changed = min(denials+1, 255), true
		}
	}
	if b.fault == peekRecords && a.Cost == 0 && live > 0 && live < limit {
		times, changed = append(times, now), true
	}
	r.Remaining = max(limit-int64(len(times))-max(denials-1, 0), 0)
	if len(times) > 0 {
		r.ResetAfter = max(times[len(times)-1]+window-a.Now, 0)
	}
	if b.fault == livesLong {
		res.TTL = (500 * time.Hour).Microseconds()
	}
	if !changed && !(b.fault == peekTrims && a.Cost == 0) {
		return res
	}
	res.State = []byte{}
	if b.fault == firstLimit {
		res.State = binary.LittleEndian.AppendUint64(res.State, uint64(limit))
	}
	for _, t := range times {
		res.State = binary.LittleEndian.AppendUint64(res.State, uint64(t))
	}
	if denials > 0 {
		res.State = append(res.State, byte(denials))
	}
	return res
}
