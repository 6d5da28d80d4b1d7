package conformance

import (
	"bytes"
	"context"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/store"
)

// How many histories each rule tries, and how many events they have. Each pattern comes
// twice, and in twelve each meets each limit.
const (
	rounds = 8
	length = 26
)

// eachTrial runs random histories of every pattern under every limit.
func eachTrial(ctx context.Context, p *probe, s subject, run func(ctx context.Context, l *limited, key string, events []event) error) error {
	for round := range rounds * p.suite.cfg.Effort {
		limit := tried[round%len(tried)]
		l, err := p.simulate(s, limit)
		if err != nil {
			return err
		}
		start := l.clock.us.Load()
		if err := shortest(ctx, p, p.draw(round, limit, length), func(ctx context.Context, key string, events []event) error {
			l.clock.us.Store(start)
			return run(ctx, l, key, events)
		}); err != nil {
			return err
		}
	}
	return nil
}

// step moves the clock to the event and takes.
func (l *limited) step(ctx context.Context, j *journal, key string, e event, last *weir.Decision) error {
	gap := e.gap
	if gap == untilRetry {
		gap = last.RetryAfter.Microseconds()
	}
	l.clock.us.Add(gap)
	d, err := l.take(ctx, key, e.cost)
	if err != nil {
		return err
	}
	j.note("at %s Take(%d): %s", l.at(), e.cost, outcome(d))
	*last = d
	if d.RetryAfter == weir.Never {
		last.RetryAfter = 0
	}
	return nil
}

func keepsGuarantee(ctx context.Context, p *probe, s subject) error {
	return eachTrial(ctx, p, s, func(ctx context.Context, l *limited, key string, events []event) error {
		var j journal
		var last weir.Decision
		g := l.shape.Guarantee
		judge := oracle.NewJudge(l.Limit().Count, l.Limit().Window.Microseconds())
		j.note("limit %s", l.Limit())
		h := freeings{limit: l.Limit().Count, window: l.Limit().Window.Microseconds()}
		for _, e := range events {
			if err := l.step(ctx, &j, key, e, &last); err != nil {
				return err
			}
			now := l.clock.us.Load()
			judge.Observe(key, oracle.Observation{Time: now, Cost: e.cost, Allowed: last.Allowed})
			r := judge.Report()
			if r.MaxInWindow > g.MaxInWindow {
				return j.failf("a window sees %d admitted: at most %d are declared", r.MaxInWindow, g.MaxInWindow)
			}
			if e.cost == 1 && r.MaxDeficit > g.Deficit {
				return j.failf("denied with %d places free: at most %d are declared", r.MaxDeficit, g.Deficit)
			}
			if last.Allowed {
				h.admit(now, e.cost)
			} else if late := h.late(now + last.RetryAfter.Microseconds()); e.cost == 1 && g.DeficitFor > 0 && late > g.DeficitFor {
				return j.failf("denied until %v after a place became free: at most %v are declared", late, g.DeficitFor)
			}
		}
		return nil
	})
}

// freeings knows when the last place became free, by what was admitted.
type freeings struct {
	limit, window int64
	times         []int64
}

func (f *freeings) admit(t, n int64) {
	for range n {
		f.times = append(f.times, t)
	}
}

// late is how long after a place was free a request is admitted at t.
func (f *freeings) late(t int64) time.Duration {
	free := int64(0)
	if n := int64(len(f.times)); n >= f.limit {
		free = f.times[n-f.limit] + f.window
	}
	return store.TTL(max(t-free, 0))
}

// stepPlan returns a plan whose step is the algorithm in Go: this one where it runs a step
// itself, and else another one.
func (s subject) stepPlan(limit weir.Limit) (plan weir.Plan, own bool, err error) {
	full, err := s.Algorithm.Shape(limit)
	if err != nil {
		return plan, false, failf("Shape of %s: %v", limit, err)
	}
	for _, one := range full.Plans {
		if one.Step != nil && (plan.Step == nil || one.Name == s.plan) {
			plan, own = one, one.Name == s.plan
		}
	}
	if plan.Step == nil {
		return plan, false, unsupportedf("no plan has a step to compare with")
	}
	return plan, own, nil
}

// decidesAsStep runs a plan against the step's Go function on bytes of its own. A plan
// without a step is held against that of another plan.
func decidesAsStep(ctx context.Context, p *probe, s subject) error {
	return eachTrial(ctx, p, s, func(ctx context.Context, l *limited, key string, events []event) error {
		plan, own, err := s.stepPlan(l.Limit())
		if err != nil {
			return err
		}
		var j journal
		j.note("limit %s", l.Limit())
		var last weir.Decision
		var state []byte
		for i, e := range events {
			// A step has refunds too, and a plan of its own meets clocks that step back.
			if i%9 == 8 && l.Plan().Refunds {
				e.cost = -1
			}
			if own && i%17 == 16 {
				e.gap = -1 - e.gap/2
			}
			if e.gap == untilRetry {
				e.gap = last.RetryAfter.Microseconds()
			}
			l.clock.us.Add(e.gap)
			cost := min(e.cost, l.Capacity())
			want := plan.Step.Func(bytes.Clone(state), store.Args{Now: l.clock.us.Load(), Cost: cost, Params: plan.Params})
			if want.Corrupt {
				return j.failf("the step does not recognise its own state %x", state)
			}
			if want.State != nil {
				state = want.State
			}
			ask := l.take
			if cost < 0 {
				ask = func(ctx context.Context, key string, n int64) (weir.Decision, error) { return l.Refund(ctx, key, -n) }
			}
			got, err := ask(ctx, key, cost)
			if err != nil {
				return err
			}
			j.note("at %s Take(%d): %s", l.at(), cost, outcome(got))
			last = got
			r := store.Reply{
				Allowed: got.Allowed, Remaining: got.Remaining,
				RetryAfter: got.RetryAfter.Microseconds(), ResetAfter: got.ResetAfter.Microseconds(),
			}
			want.Reply.Remaining = min(want.Reply.Remaining, l.Capacity())
			if r != want.Reply {
				return j.failf("it answers %+v, and the step's Go function %+v", r, want.Reply)
			}
		}
		return nil
	})
}
