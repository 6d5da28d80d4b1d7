package conformance

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// faultyBound is a bound plan with a fault.
type faultyBound struct {
	weir.Bound
	log     brokenLog
	binding weir.Binding
	limit   weir.Limit

	mu   sync.Mutex
	full map[string]int64 // until when a key is full, of those that one request filled
}

func (f *faultyBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	switch fault := f.log.fault; {
	case fault == mergesKeys:
		key = strings.ToLower(key)
	case fault == looksTwice && cost != 0:
		if _, err := f.Bound.Take(ctx, key, 0); err != nil {
			return store.Reply{}, err
		}
	case fault == admitsCrowds && f.binding.Clock != nil && cost > 0 && f.log.crowd.meet():
		return store.Reply{Allowed: true}, nil
	case fault == peeksOld:
		return f.peekOld(ctx, key, cost)
	case fault == deniesLocally && f.binding.Clock != nil:
		return f.denyLocally(ctx, key, cost)
	}
	r, err := f.Bound.Take(ctx, key, cost)
	if f.log.fault == errorAllows && err != nil {
		return store.Reply{Allowed: true}, nil
	}
	return r, err
}

// peekOld remembers what each request found.
func (f *faultyBound) peekOld(ctx context.Context, key string, cost int64) (store.Reply, error) {
	name := f.binding.Space + key
	if cost == 0 {
		r, err := f.Bound.Take(ctx, key, 0)
		return f.log.old.read(name, r), err
	}
	return f.log.old.write(name, func() (r, before store.Reply, err error) {
		r, err = f.Bound.Take(ctx, key, cost)
		before = store.Reply{Allowed: true, Remaining: r.Remaining, ResetAfter: r.ResetAfter}
		if r.Allowed {
			before.Remaining += cost
		}
		return r, before, err
	})
}

func (f *faultyBound) denyLocally(ctx context.Context, key string, cost int64) (store.Reply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, window := f.binding.Clock().UnixMicro(), f.limit.Window.Microseconds()
	if cost < 0 {
		delete(f.full, key)
	}
	if left := f.full[key] - now; cost > 0 && left > 0 && left <= window && ctx.Err() == nil {
		return store.Reply{RetryAfter: left, ResetAfter: left}, nil
	}
	r, err := f.Bound.Take(ctx, key, cost)
	if r.Allowed && cost == f.limit.Count && cost > 1 {
		f.full[key] = now + window
	}
	return r, err
}

func (f *faultyBound) Keys(key string) []string {
	switch f.log.fault {
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
}

func (r *racyBound) Keys(key string) []string { return []string{r.binding.Space + key} }

func (r *racyBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	st := r.binding.Store.(store.Swapper)
	state, _, err := st.Load(ctx, r.binding.Space+key)
	if err != nil {
		return store.Reply{}, err
	}
	linger(func() bool { return false })
	now := time.Now
	if r.binding.Clock != nil {
		now = r.binding.Clock
	}
	res := r.step.Func(state, store.Args{Now: now().UnixMicro(), Cost: cost, Params: r.params})
	if res.State != nil {
		_, err = overwrite(ctx, st, r.binding.Space+key, res.State, time.Hour)
	}
	return res.Reply, err
}
