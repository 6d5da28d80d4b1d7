package conformance

import (
	"context"
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// The concurrent histories that are tried. Each process has a limiter and a clock of its
// own and callers who share them; the clocks move between the phases, when nobody calls.
const (
	phases         = 3
	processes      = 3
	callersEach    = 2
	visitsPerPhase = 14
	visitedKeys    = 2
	linearRounds   = 6
)

// visit is a call of a concurrent history: a cost, or reset.
type visit struct {
	phase, caller, key int
	cost               int64
}

const reset = int64(-1)

// visited is a visit and its answer.
type visited struct {
	visit
	now int64 // the caller's time
	got weir.Decision
	// disturbed tells that a denied request of another caller went on meanwhile, which a
	// plan that adds first and gives back may have counted.
	disturbed bool
}

// ordersConcurrentCalls records what callers of several processes are answered and looks for
// an order in which the step's Go function answers the same.
func ordersConcurrentCalls(ctx context.Context, p *probe, s subject) error {
	for round := range linearRounds * p.suite.cfg.Effort {
		c, err := p.crowd(s, tried[round%len(tried)])
		if err != nil {
			return err
		}
		if err := shortest(ctx, p, p.visits(), c.meet); err != nil {
			return err
		}
	}
	return nil
}

// visits draws the calls of one history.
func (p *probe) visits() []visit {
	visits := make([]visit, phases*visitsPerPhase)
	for i := range visits {
		v := visit{phase: i / visitsPerPhase, caller: p.rng.IntN(processes * callersEach), key: p.rng.IntN(visitedKeys)}
		switch p.rng.IntN(12) {
		case 0:
			v.cost = reset
		case 1, 2, 3:
			v.cost = 0
		case 4:
			v.cost = 8 // above the capacity of most
		default:
			v.cost = 1 + p.rng.Int64N(3)
		}
		visits[i] = v
	}
	return visits
}

// meeting is the limiters of several processes, and what they are held against.
type meeting struct {
	p        *probe
	limiters [processes]*limited
	times    [phases][processes]int64
	model    weir.Plan // whose step is the limiter in Go
	spurious bool
}

func (p *probe) crowd(s subject, limit weir.Limit) (*meeting, error) {
	model, _, err := s.stepPlan(limit)
	if err != nil {
		return nil, err
	}
	c := &meeting{p: p, model: model}
	for i := range c.limiters {
		if c.limiters[i], err = p.limiter(s, limit, new(simulated)); err != nil {
			return nil, err
		}
	}
	plan := c.limiters[0].Plan()
	if plan.Racy {
		return nil, unsupportedf("the plan declares that it is not atomic")
	}
	c.spurious = plan.Spurious
	window := limit.Window.Microseconds()
	now := epoch + p.rng.Int64N(window)
	for phase := range c.times {
		for i := range c.times[phase] {
			c.times[phase][i] = now
			// A plan without a step keeps no time, so its callers' clocks must agree.
			if plan.Step != nil {
				c.times[phase][i] += p.rng.Int64N(window/4 + 1)
			}
		}
		now += []int64{0, 1, window / 2, window, window + 1}[p.rng.IntN(5)]
	}
	return c, nil
}

// meet makes the visits, phase by phase, and judges the history.
func (c *meeting) meet(ctx context.Context, space string, visits []visit) error {
	var r recorder[visited]
	for phase := range phases {
		for i, l := range c.limiters {
			l.clock.us.Store(c.times[phase][i])
		}
		if err := c.gather(ctx, &r, space, phase, visits); err != nil {
			return err
		}
		// What nobody disturbs is exact by any plan: what is left shows what became of denials.
		for key := range visitedKeys {
			if err := c.visit(ctx, &r, space, visit{phase: phase, key: key}); err != nil {
				return err
			}
		}
	}
	markDisturbed(r.all)
	return sequential[string, visited]{
		step: c.step,
		reads: func(v visited) bool {
			return v.cost == 0 || v.cost > 0 && !v.got.Allowed && !c.limiters[0].shape.Guarantee.DeniedCount
		},
		show: showVisited,
	}.judge(r.all, fmt.Sprintf("limit %s", c.limiters[0].Limit()))
}

// gather makes the visits of one phase, each caller's in their order and all callers' at once.
func (c *meeting) gather(ctx context.Context, r *recorder[visited], space string, phase int, visits []visit) error {
	of := make([][]visit, processes*callersEach)
	for _, v := range visits {
		switch {
		case v.phase != phase:
		case v.cost == reset && c.spurious:
			// What is about to be given back would be missing afterwards, so it comes alone.
			if err := c.visit(ctx, r, space, v); err != nil {
				return err
			}
		default:
			of[v.caller] = append(of[v.caller], v)
		}
	}
	return atOnce(of, func(v visit) error { return c.visit(ctx, r, space, v) })
}

func (c *meeting) visit(ctx context.Context, r *recorder[visited], space string, v visit) error {
	l, key := c.limiters[v.caller/callersEach], fmt.Sprint(space, v.key)
	l.p.remember(l.Keys(key)...)
	return r.call(v.caller, v.key, func() (visited, error) {
		done := visited{visit: v, now: l.clock.us.Load()}
		var err error
		if v.cost == reset {
			err = l.Reset(ctx, key)
		} else {
			done.got, err = l.Take(ctx, key, v.cost)
		}
		return done, err
	})
}

// step is the limiter as it must be. By a plan that adds first a disturbed call may be denied
// and told that less remains, but never admitted nor told that more does.
func (c *meeting) step(state string, v visited, known bool) (string, bool) {
	if v.cost == reset {
		return "", true
	}
	capacity := c.limiters[0].Capacity()
	cost := v.cost
	if cost > capacity {
		cost = 0
	}
	ask := func(cost int64) (string, weir.Decision) {
		res := c.model.Step.Func([]byte(state), store.Args{Now: v.now, Cost: cost, Params: c.model.Params})
		next := state
		if res.State != nil {
			next = string(res.State)
		}
		d := weir.Decision{
			Allowed: res.Reply.Allowed && !res.Corrupt, Limit: capacity, Remaining: min(res.Reply.Remaining, capacity),
			RetryAfter: store.TTL(res.Reply.RetryAfter), ResetAfter: store.TTL(res.Reply.ResetAfter),
		}
		if v.cost > capacity {
			d.Allowed, d.RetryAfter = false, weir.Never
		}
		return next, d
	}
	next, want := ask(cost)
	switch {
	case !known || !c.spurious || !v.disturbed:
		return next, v.got == want
	case v.got.Allowed == want.Allowed:
		return next, v.got.Remaining <= want.Remaining
	case v.got.Allowed:
		return next, false
	default: // denied for what is given back
		_, left := ask(0)
		return state, v.got.Remaining <= left.Remaining
	}
}

// markDisturbed marks the calls during which another caller's request of the same key was denied.
func markDisturbed(all []operation[visited]) {
	for i := range all {
		for _, other := range all {
			denied := other.call.cost > 0 && !other.call.got.Allowed && other.call.got.RetryAfter != weir.Never
			if denied && other.key == all[i].key && other.began != all[i].began &&
				other.began < all[i].ended && all[i].began < other.ended {
				all[i].call.disturbed = true
			}
		}
	}
}

func showVisited(key int, v visited) string {
	if v.cost == reset {
		return fmt.Sprintf("Reset(k%d)", key)
	}
	return fmt.Sprintf("at %dus Take(k%d, %d): %s", v.now-epoch, key, v.cost, outcome(v.got))
}
