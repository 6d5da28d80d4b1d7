package conformance

import (
	"context"

	"github.com/weirlimits/weir"
)

// twins are two keys with one history.
func (l *limited) twins(ctx context.Context, j *journal, key string, events []event) (a, b string, last weir.Decision, err error) {
	a, b = key+"a", key+"b"
	j.note("limit %s", l.Limit())
	for _, e := range events {
		if e.gap == untilRetry {
			e.gap = last.RetryAfter.Microseconds()
		}
		if err = l.step(ctx, j, a, e, &last); err != nil {
			return a, b, last, err
		}
		d, err := l.take(ctx, b, e.cost)
		if err != nil {
			return a, b, last, err
		}
		if d.Allowed != last.Allowed || d.Remaining != last.Remaining {
			return a, b, last, j.failf("another key with the same history is answered otherwise: %s", outcome(d))
		}
	}
	return a, b, last, nil
}

// saturate takes from both until a request of the cost is denied, and returns that denial.
func (l *limited) saturate(ctx context.Context, j *journal, a, b string, cost int64) (denied weir.Decision, err error) {
	const oneByOne = 64
	if most := l.Capacity() - oneByOne; most > 0 && !l.shape.Guarantee.DeniedCount {
		for part := most; part >= oneByOne/2; part /= 2 {
			for _, key := range []string{a, b} {
				if denied, err = l.take(ctx, key, part); err != nil {
					return denied, err
				}
			}
			j.note("at %s Take(%d): %s", l.at(), part, outcome(denied))
		}
	}
	for range l.Capacity() + 2 {
		var last weir.Decision
		if err := l.step(ctx, j, a, event{cost: cost}, &last); err != nil {
			return denied, err
		}
		if _, err := l.take(ctx, b, cost); err != nil {
			return denied, err
		}
		if !last.Allowed {
			return last, nil
		}
	}
	return denied, j.failf("%d requests at one instant are admitted: the capacity is %d", l.Capacity()+2, l.Capacity())
}

func retriesTruly(ctx context.Context, p *probe, s subject) error {
	return eachTrial(ctx, p, s, func(ctx context.Context, l *limited, key string, events []event) error {
		var j journal
		// One short history for each of the first events, so that many states are met.
		a, b, _, err := l.twins(ctx, &j, key, events[:min(len(events), 1+p.rng.IntN(12))])
		if err != nil {
			return err
		}
		// Places that were taken at different times come back one by one.
		for range 2 {
			var last weir.Decision
			if err := l.step(ctx, &j, a, event{gap: l.Limit().Window.Microseconds()/8 + 1, cost: 1}, &last); err != nil {
				return err
			}
			if _, err := l.take(ctx, b, 1); err != nil {
				return err
			}
		}
		cost := 1 + l.clock.us.Load()%min(l.Capacity(), 3)
		denied, err := l.saturate(ctx, &j, a, b, cost)
		if err != nil {
			return err
		}
		var last weir.Decision
		if denied.RetryAfter.Microseconds() > 1 {
			if err := l.step(ctx, &j, a, event{gap: denied.RetryAfter.Microseconds() - 1, cost: cost}, &last); err != nil {
				return err
			}
			if last.Allowed {
				return j.failf("admitted a microsecond before the instant that it was told")
			}
			l.clock.us.Add(1)
		} else {
			l.clock.us.Add(denied.RetryAfter.Microseconds())
		}
		j.note("another key with the same history:")
		if err := l.step(ctx, &j, b, event{cost: cost}, &last); err != nil {
			return err
		}
		if !last.Allowed {
			return j.failf("denied at the instant that it was told")
		}
		return nil
	})
}

func deniesFreely(ctx context.Context, p *probe, s subject) error {
	return eachTrial(ctx, p, s, func(ctx context.Context, l *limited, key string, events []event) error {
		if l.shape.Guarantee.DeniedCount {
			return unsupportedf("the guarantee declares that denied requests count")
		}
		var j journal
		a, b, _, err := l.twins(ctx, &j, key, events[:min(len(events), 8)])
		if err != nil {
			return err
		}
		denied, err := l.saturate(ctx, &j, a, b, 1)
		if err != nil {
			return err
		}
		due := l.clock.us.Load() + denied.RetryAfter.Microseconds()
		var last weir.Decision
		for i := range int64(6) { // more and more requests that are denied
			gap := (due - l.clock.us.Load()) / 3
			if err := l.step(ctx, &j, a, event{gap: gap, cost: 1 + i%min(l.Capacity(), 2)}, &last); err != nil {
				return err
			}
		}
		l.clock.us.Store(due)
		if err := l.step(ctx, &j, a, event{cost: 1}, &last); err != nil {
			return err
		}
		other, err := l.take(ctx, b, 1)
		if err != nil {
			return err
		}
		if !last.Allowed {
			return j.failf("the denied requests put off the instant at which the next is admitted")
		}
		if last.Remaining != other.Remaining {
			return j.failf("%d remain, and %d on a key that had the same history without the denied requests", last.Remaining, other.Remaining)
		}
		return nil
	})
}
