package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

func changesLimit(ctx context.Context, p *probe, s subject) error {
	clock := new(simulated)
	clock.us.Store(epoch + 1234)
	small, err := p.limiter(s, weir.Limit{Count: 4, Window: time.Second}, clock)
	if err != nil {
		return err
	}
	large, err := p.limiter(s, weir.Limit{Count: 10, Window: time.Second}, clock)
	if err != nil {
		return err
	}
	if small.Capacity() >= large.Capacity() {
		return unsupportedf("the capacity does not depend on the limit")
	}
	if !slices.Equal(small.Keys("k"), large.Keys("k")) {
		return failf("the limits %s and %s have different keys: a change would start afresh", small.Limit(), large.Limit())
	}
	// Raised: what was taken counts, the rest is there at once.
	taken, _, err := small.fill(ctx, "raised")
	if err != nil {
		return err
	}
	more, _, err := large.fill(ctx, "raised")
	if err != nil {
		return err
	}
	if more == 0 || taken+more > large.Capacity() {
		return failf("%d taken, the limit raised from %s to %s, and %d more are admitted: want from 1 to %d",
			taken, small.Limit(), large.Limit(), more, large.Capacity()-taken)
	}
	// Lowered: all that was taken counts, and the wait is true.
	for _, key := range []string{"lowered", "lowered twin"} {
		if _, _, err := large.fill(ctx, key); err != nil {
			return err
		}
	}
	denied, err := small.take(ctx, "lowered", 1)
	if err != nil {
		return err
	}
	if denied.Allowed || denied.Remaining != 0 {
		return failf("%d taken, the limit lowered from %s to %s, and one more gives %+v: want it denied",
			large.Capacity(), large.Limit(), small.Limit(), denied)
	}
	if _, err := small.take(ctx, "lowered twin", 1); err != nil {
		return err
	}
	if small.shape.Guarantee.DeniedCount {
		return nil
	}
	clock.us.Add(denied.RetryAfter.Microseconds() - 1)
	d, err := small.take(ctx, "lowered", 1)
	if err != nil {
		return err
	}
	if d.Allowed && denied.RetryAfter > time.Microsecond {
		return failf("after the limit was lowered a request is admitted a microsecond before the instant that it was told")
	}
	clock.us.Add(1)
	if d, err = small.take(ctx, "lowered twin", 1); err != nil {
		return err
	}
	if !d.Allowed {
		return failf("after the limit was lowered a request is denied at the instant that it was told")
	}
	return nil
}

func stepsClock(ctx context.Context, p *probe, s subject) error {
	const hour = 3_600_000_000
	for _, limit := range tried {
		l, err := p.simulate(s, limit)
		if err != nil {
			return err
		}
		key, start := limit.String(), l.clock.us.Load()
		taken, denied, err := l.fill(ctx, key)
		if err != nil {
			return err
		}
		l.clock.us.Store(start - hour)
		d, err := l.take(ctx, key, 1)
		if err != nil {
			return err
		}
		// A plan without a step keeps no time to compare with, and so counts a late clock
		// in the window that it believes in.
		if l.Plan().Step != nil && d.Allowed {
			return failf("%d taken at %s, then the clock steps back an hour, and one more is admitted", taken, limit)
		}
		if !d.Allowed && d.RetryAfter <= 0 {
			return failf("denied under a clock that stepped back, with RetryAfter %v", d.RetryAfter)
		}
		l.clock.us.Store(start)
		if d, err = l.take(ctx, key, 1); err != nil {
			return err
		}
		if d.Allowed {
			return failf("%d taken at %s, an hour back and forth, and one more is admitted", taken, limit)
		}
		if l.shape.Guarantee.DeniedCount {
			continue
		}
		l.clock.us.Store(start + denied.RetryAfter.Microseconds())
		if d, err = l.take(ctx, key, 1); err != nil {
			return err
		}
		if !d.Allowed {
			return failf("after the clock went an hour back and forth a request is denied at the instant that it was told, at %s", limit)
		}
	}
	return nil
}

func forgivesFuture(ctx context.Context, p *probe, s subject) error {
	limit := weir.Limit{Count: 3, Window: time.Minute}
	own, err := p.limiter(s, limit, nil)
	if err != nil {
		return err
	}
	if own.Plan().Step == nil || own.Plan().Name != "script" {
		return unsupportedf("each caller of this plan brings a clock, and the later one counts")
	}
	clock := new(simulated)
	ahead, err := p.limiter(s, limit, clock)
	if err != nil {
		return err
	}
	now, err := p.storeTime(ctx)
	if err != nil {
		return err
	}
	clock.us.Store(now.Add(50 * time.Hour).UnixMicro())
	if _, _, err := ahead.fill(ctx, "k"); err != nil {
		return err
	}
	refill := own.shape.MaxTTL
	for range 2 {
		d, err := own.take(ctx, "k", 1)
		if err != nil {
			return err
		}
		if d.RetryAfter > refill {
			return failf("a state from a clock 50h ahead denies for %v: one refill takes at most %v", d.RetryAfter, refill)
		}
	}
	return nil
}

// storeTime is the store's time, or ours where it tells none.
func (p *probe) storeTime(ctx context.Context) (time.Time, error) {
	if clock, ok := p.st.(store.Clock); ok {
		return clock.Now(ctx)
	}
	return time.Now(), nil
}

func failsClosed(ctx context.Context, p *probe, s subject) error {
	l, err := p.simulate(s, tried[0])
	if err != nil {
		return err
	}
	if _, _, err := l.fill(ctx, "k"); err != nil {
		return err
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for _, key := range []string{"k", "new"} {
		d, err := l.take(gone, key, 1)
		if !errors.Is(err, context.Canceled) || d != (weir.Decision{}) {
			return failf("with a context that is done Take gives %+v, %v: want no decision and %v", d, err, context.Canceled)
		}
	}
	if err := l.unused(ctx, "new", "Take with a context that is done"); err != nil {
		return err
	}
	return p.refusesJunk(ctx, l)
}

// refusesJunk puts what no algorithm writes where the limiter's state would be.
func (p *probe) refusesJunk(ctx context.Context, l *limited) error {
	h, ok := p.st.(store.Swapper)
	if !ok {
		return nil
	}
	l.p.remember(l.Keys("junk")...)
	for _, name := range l.Keys("junk")[:1] {
		if _, err := h.Swap(ctx, name, "", []byte("\xff\xfe no state of any algorithm \xff"), time.Minute); err != nil {
			return err
		}
	}
	if d, err := l.take(ctx, "junk", 1); err == nil {
		return failf("on a key that holds no state of the algorithm Take gives %+v: want an error", d)
	}
	return nil
}
