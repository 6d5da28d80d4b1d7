package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/weirlimits/weir"
)

func peeksFreely(ctx context.Context, p *probe, s subject) error {
	return eachTrial(ctx, p, s, func(ctx context.Context, l *limited, key string, events []event) error {
		var j journal
		j.note("limit %s", l.Limit())
		peeked, other := key+"a", key+"b"
		var last weir.Decision
		for i, e := range events {
			if err := l.step(ctx, &j, peeked, e, &last); err != nil {
				return err
			}
			d, err := l.take(ctx, other, e.cost)
			if err != nil {
				return err
			}
			if d != last && !(d.RetryAfter == weir.Never && d.Remaining == last.Remaining) {
				return j.failf("a key with the same history that was not peeked at is answered otherwise: %s", outcome(d))
			}
			if i%3 != 0 {
				continue
			}
			l.clock.us.Add(int64(i))
			peek, err := l.Peek(ctx, peeked)
			if err != nil {
				return err
			}
			j.note("at %s Peek: %s", l.at(), outcome(peek))
			if !peek.Allowed {
				return j.failf("a peek is denied")
			}
			if i == 0 {
				if err := l.peekUnused(ctx, key+"c"); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (l *limited) peekUnused(ctx context.Context, key string) error {
	d, err := l.take(ctx, key, 0)
	if err != nil {
		return err
	}
	if want := (weir.Decision{Allowed: true, Limit: l.Capacity(), Remaining: l.Capacity()}); d != want {
		return failf("a peek at an unused key gives %+v: want %+v", d, want)
	}
	return l.unused(ctx, key, "a peek")
}

func refusesNever(ctx context.Context, p *probe, s subject) error {
	l, err := p.simulate(s, tried[0])
	if err != nil {
		return err
	}
	for _, n := range []int64{l.Capacity() + 1, math.MaxInt64} {
		d, err := l.take(ctx, "new", n)
		if err != nil {
			return err
		}
		if d.Allowed || d.RetryAfter != weir.Never || d.Remaining != l.Capacity() {
			return failf("a cost of %d, where the capacity is %d, gives %+v: want denied, never, %d remaining", n, l.Capacity(), d, l.Capacity())
		}
		if err := l.unused(ctx, "new", "a cost above the capacity"); err != nil {
			return err
		}
	}
	for _, n := range []int64{-1, math.MinInt64} {
		if d, err := l.take(ctx, "new", n); err == nil {
			return failf("a cost of %d gives %+v: want an error", n, d)
		}
	}
	d, err := l.take(ctx, "new", l.Capacity())
	if err != nil {
		return err
	}
	if !d.Allowed {
		return failf("a cost of the capacity, %d, on an unused key is denied", l.Capacity())
	}
	return nil
}

func resets(ctx context.Context, p *probe, s subject) error {
	for _, limit := range tried {
		l, err := p.simulate(s, limit)
		if err != nil {
			return err
		}
		for range 2 {
			taken, _, err := l.fill(ctx, "k")
			if err != nil {
				return err
			}
			if taken != l.Capacity() {
				return failf("of a key that was never used or was reset %d are admitted: the capacity is %d", taken, l.Capacity())
			}
			if err := l.Reset(ctx, "k"); err != nil {
				return err
			}
			if err := l.unused(ctx, "k", "Reset left, or a decision"); err != nil {
				return err
			}
			if err := l.peekUnused(ctx, "k"); err != nil {
				return err
			}
		}
	}
	return nil
}

func refunds(ctx context.Context, p *probe, s subject) error {
	for _, limit := range tried {
		l, err := p.simulate(s, limit)
		if err != nil {
			return err
		}
		if !l.Plan().Refunds {
			if _, err := l.Refund(ctx, "k", 1); !errors.Is(err, errors.ErrUnsupported) {
				return failf("the plan declares no refunds, and Refund gives %v: want ErrUnsupported", err)
			}
			return unsupportedf("the plan declares no refunds")
		}
		if err := l.refund(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l *limited) refund(ctx context.Context) error {
	d, err := l.Refund(ctx, "new", 3)
	if err != nil {
		return err
	}
	if d.Remaining != l.Capacity() {
		return failf("a refund of an unused key leaves %d: the capacity is %d", d.Remaining, l.Capacity())
	}
	if err := l.unused(ctx, "new", "a refund"); err != nil {
		return err
	}
	for n := int64(1); n <= min(l.Capacity(), 3); n++ {
		key := fmt.Sprint(l.Limit(), n)
		if _, err := l.take(ctx, key, l.Capacity()-n); err != nil {
			return err
		}
		before, err := l.Peek(ctx, key)
		if err != nil {
			return err
		}
		if d, err = l.take(ctx, key, before.Remaining); err != nil {
			return err
		}
		if d, err = l.Refund(ctx, key, before.Remaining); err != nil {
			return err
		}
		if d.Remaining != before.Remaining {
			return failf("%d taken and given back leave %d: before, %d remained", before.Remaining, d.Remaining, before.Remaining)
		}
		if d, err = l.Refund(ctx, key, l.Capacity()+1000); err != nil {
			return err
		}
		if d.Remaining != l.Capacity() {
			return failf("a refund of more than was taken leaves %d: the capacity is %d", d.Remaining, l.Capacity())
		}
		taken, _, err := l.fill(ctx, key)
		if err != nil {
			return err
		}
		if taken != l.Capacity() {
			return failf("after all was given back %d are admitted: the capacity is %d", taken, l.Capacity())
		}
	}
	return nil
}
