package algorithms

import (
	"context"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// slidingCounterCounterPlan needs nothing but a counter: it adds to this window's,
// reads the one before, and gives back what does not fit.
//
// Both counters are at least what was admitted, so the weighted sum is at least the
// true one, and nothing passes that the step would have denied.
func slidingCounterCounterPlan(limit, window int64) weir.Plan {
	return weir.Plan{
		Name:  "counter",
		Needs: store.CapCounter,
		Trips: 2, DeniedTrips: 3,
		Spurious: true, Refunds: true,
		Bind: func(b weir.Binding) (weir.Bound, error) {
			return &slidingCounterCounter{limit: limit, counters: newWindowCounters(b, window)}, nil
		},
	}
}

type slidingCounterCounter struct {
	limit    int64
	counters windowCounters
}

func (s *slidingCounterCounter) Keys(key string) []string { return s.counters.keys(key, 2) }

func (s *slidingCounterCounter) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	now, err := s.counters.now()
	if err != nil {
		return store.Reply{}, err
	}
	w := weighted{limit: s.limit, window: s.counters.window, index: now / s.counters.window}
	w.elapsed = now % w.window
	this, before := s.counters.key(key, w.index), s.counters.key(key, w.index-1)
	if cost < 0 {
		if _, err := s.counters.giveBack(ctx, this, -cost); err != nil {
			return store.Reply{}, err
		}
		cost = 0
	}
	if cost == 0 {
		counts, err := s.counters.counter.Read(ctx, this, before)
		if err != nil {
			return store.Reply{}, err
		}
		w.cur, w.prev = counts[0], counts[1]
		return w.reply(now, true, 0), nil
	}
	count, err := s.counters.add(ctx, this, cost, 2*w.window-w.elapsed)
	if err != nil {
		return store.Reply{}, err
	}
	counts, err := s.counters.counter.Read(ctx, before)
	if err != nil {
		_, _ = s.counters.giveBack(ctx, this, cost) // the read's error is the answer
		return store.Reply{}, err
	}
	w.cur, w.prev = count-cost, counts[0]
	if w.room() >= cost {
		w.cur = count
		return w.reply(now, true, 0), nil
	}
	if count, err = s.counters.giveBack(ctx, this, cost); err != nil {
		return store.Reply{}, err
	}
	w.cur = count
	return w.reply(now, false, cost), nil
}
