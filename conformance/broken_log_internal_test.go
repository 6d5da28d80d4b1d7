package conformance

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// brokenLog is the exact log in its plainest form, a time of 8 bytes per admitted
// request, with at most one fault.
type brokenLog struct {
	fault string
}

func (brokenLog) Name() string   { return "log" }
func (brokenLog) String() string { return "log" }

// The faults of the step.
const (
	closedWindow   = "the window is closed: an event exactly one window old still counts"
	oneTooMany     = "admits one beyond the limit"
	countsFirst    = "counts before it trims"
	recordsDenied  = "records denied requests"
	peekRecords    = "a peek is recorded"
	peekTrims      = "a peek on an unused key writes an empty state"
	retryOfNewest  = "tells to wait for the newest to leave, not for the oldest"
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
	otherStep       = "runs another step than it declares"
	understates     = "declares one less in a window than it admits"
	overCapacity    = "declares a capacity that is never admitted"
	forgetsOnChange = "another limit starts afresh"
	resetElsewhere  = "Reset deletes another key"
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
		plan.Step = &store.Step{Name: "log", Func: brokenLog{oneTooMany}.decide}
	}
	bind := plan.Bind
	plan.Bind = func(binding weir.Binding) (weir.Bound, error) {
		if b.fault == looksFirst {
			return &racyBound{binding: binding, step: step, params: params, race: newRendezvous()}, nil
		}
		if b.fault == dropsPrefix {
			binding.Space = "log/"
		}
		bound, err := bind(binding)
		return &faultyBound{bound, b.fault}, err
	}
	shape.Plans = []weir.Plan{plan}
	return shape, nil
}

func (b brokenLog) decide(state []byte, a store.Args) store.Result {
	limit, window := a.Params[0], a.Params[1]
	if b.fault == admitsByOwn && a.OwnTime {
		return store.Result{Reply: store.Reply{Allowed: true}}
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
	case a.Cost < 0:
		back := -a.Cost
		if b.fault == refundsNothing {
			back = 0
		} else if b.fault == refundsTwice {
			back++
		}
		back = min(back, live)
		times, changed = times[:live-back], back > 0
	case r.Allowed:
		for range a.Cost {
			times = append(times, now)
		}
		changed = a.Cost > 0
	default:
		leaves := times[min(live+a.Cost-limit, live)-1]
		if b.fault == retryOfNewest {
			leaves = times[live-1]
		}
		r.RetryAfter = max(leaves+window-a.Now, 1)
		if b.fault == retryTooSoon {
			r.RetryAfter = max(r.RetryAfter-1000, 1)
		}
		if b.fault == recordsDenied {
			times, changed = append(times, now), true
		}
	}
	if b.fault == peekRecords && a.Cost == 0 && live > 0 && live < limit {
		times, changed = append(times, now), true
	}
	r.Remaining = max(limit-int64(len(times)), 0)
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
	return res
}

// faultyBound is a bound plan with a fault.
type faultyBound struct {
	weir.Bound
	fault string
}

func (f *faultyBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	if f.fault == mergesKeys {
		key = strings.ToLower(key)
	}
	r, err := f.Bound.Take(ctx, key, cost)
	if f.fault == errorAllows && err != nil {
		return store.Reply{Allowed: true}, nil
	}
	return r, err
}

func (f *faultyBound) Keys(key string) []string {
	switch f.fault {
	case mergesKeys:
		key = strings.ToLower(key)
	case twoSlots:
		return append(f.Bound.Keys(key), f.Bound.Keys(key+"2")...)
	case resetElsewhere:
		key += "?"
	}
	return f.Bound.Keys(key)
}

// racyBound runs the step between a load and a write that looks at nothing.
type racyBound struct {
	binding weir.Binding
	step    *store.Step
	params  []int64
	race    *rendezvous
}

func (r *racyBound) Keys(key string) []string { return []string{r.binding.Space + key} }

func (r *racyBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	st := r.binding.Store.(*faulty)
	state, _, err := st.inner.Load(ctx, r.binding.Space+key)
	if err != nil {
		return store.Reply{}, err
	}
	r.race.meet()
	res := r.step.Func(state, store.Args{Now: r.binding.Clock().UnixMicro(), Cost: cost, Params: r.params})
	if res.State != nil {
		_, err = overwrite(ctx, st, r.binding.Space+key, res.State, time.Hour)
	}
	return res.Reply, err
}
