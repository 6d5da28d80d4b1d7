package algorithms

import (
	"context"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/combine"
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
			s := &slidingCounterCounter{limit: limit, counters: newWindowCounters(b, window)}
			s.together = combine.NewDecisions(s.serve)
			return s, nil
		},
	}
}

type slidingCounterCounter struct {
	limit    int64
	counters windowCounters
	together combine.Decisions
}

func (s *slidingCounterCounter) Keys(key string) []string { return s.counters.keys(key, 2) }

func (s *slidingCounterCounter) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	if cost > 0 {
		return s.together.Take(ctx, key, cost)
	}
	now, err := s.counters.now()
	if err != nil {
		return store.Reply{}, err
	}
	w, this, before := s.at(key, now)
	if cost < 0 {
		if _, err := s.counters.giveBack(ctx, this, -cost); err != nil {
			return store.Reply{}, err
		}
	}
	counts, err := s.counters.counter.Read(ctx, this, before)
	if err != nil {
		return store.Reply{}, err
	}
	w.cur, w.prev = counts[0], counts[1]
	return w.reply(now, true, 0), nil
}

func (s *slidingCounterCounter) at(key string, now int64) (w weighted, this, before string) {
	w = weighted{limit: s.limit, window: s.counters.window, index: now / s.counters.window}
	w.elapsed = now % w.window
	return w, s.counters.key(key, w.index), s.counters.key(key, w.index-1)
}

func (s *slidingCounterCounter) serve(ctx context.Context, key string, asks []*combine.Ask) error {
	now, err := s.counters.now()
	if err != nil {
		return err
	}
	w, this, before := s.at(key, now)
	sum := total(asks)
	count, err := s.counters.add(ctx, this, sum, 2*w.window-w.elapsed)
	if err != nil {
		return err
	}
	if w.prev, err = s.counters.read(ctx, before); err != nil {
		_, _ = s.counters.giveBack(ctx, this, sum) // the read's error is the answer
		return err
	}
	denied := int64(0)
	w.cur = count - sum
	for _, ask := range asks {
		allowed := w.room() >= ask.Cost
		if allowed {
			w.cur += ask.Cost
			ask.Reply = w.reply(now, true, 0)
		} else {
			denied += ask.Cost
			ask.Reply = w.reply(now, false, ask.Cost)
		}
	}
	if denied > 0 {
		_, err = s.counters.giveBack(ctx, this, denied)
		failDenied(asks, err)
	}
	return nil
}
