package weir

import (
	"context"
	"hash/maphash"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// SwapPlan runs a step's Go function between a load and a compare-and-swap: two round
// trips, and two more for each time that another caller was faster.
//
// A failed swap means that somebody else's succeeded, so the callers together always
// advance. Those of one process that met a conflict on a key queue up for it, so a
// hot key is contended by processes, not by callers; between processes a random
// pause spreads the attempts.
func SwapPlan(step *store.Step, params []int64) Plan {
	return Plan{
		Name:  "compare-and-swap",
		Needs: store.CapSwap,
		Trips: 2, DeniedTrips: 1, Refunds: true,
		Step: step, Params: params,
		Bind: func(b Binding) (Bound, error) {
			s := &swapBound{step: step, params: params, binding: b, swapper: b.Store.(store.Swapper), seed: maphash.MakeSeed()}
			for i := range s.queues {
				s.queues[i].turn = make(chan struct{}, 1)
			}
			return s, nil
		},
	}
}

// swapAttempts bounds a decision's swaps. With one contender for each of 64
// processes a decision loses so often about once in 10^7.
const swapAttempts = 1024

type swapBound struct {
	step    *store.Step
	params  []int64
	binding Binding
	swapper store.Swapper
	seed    maphash.Seed
	queues  [64]queue
}

// queue lets the callers of one process that contend for a key go one by one.
type queue struct {
	turn    chan struct{} // holds a token while somebody has the turn
	waiting atomic.Int32
}

func (s *swapBound) Keys(key string) []string { return []string{s.binding.Space + key} }

func (s *swapBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	q := &s.queues[maphash.String(s.seed, key)%uint64(len(s.queues))]
	full := s.binding.Space + key
	if q.waiting.Load() == 0 {
		if r, done, err := s.try(ctx, full, cost); done || err != nil {
			return r, err
		}
	}
	q.waiting.Add(1)
	defer q.waiting.Add(-1)
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
	case <-ctx.Done():
		return store.Reply{}, ctx.Err()
	}
	for attempt := range swapAttempts {
		r, done, err := s.try(ctx, full, cost)
		if done || err != nil {
			return r, err
		}
		if err := pause(ctx, attempt); err != nil {
			return r, err
		}
	}
	return store.Reply{}, store.ErrContended
}

// try makes one attempt. done is false if another caller's swap came between.
func (s *swapBound) try(ctx context.Context, key string, cost int64) (r store.Reply, done bool, err error) {
	now, ttlFloor := time.Now, time.Duration(0)
	if s.binding.Clock != nil {
		now, ttlFloor = s.binding.Clock, store.HousekeepingTTL
	}
	args := store.Args{Cost: cost, Params: s.params}
	if args.Now, err = Micros(now()); err != nil {
		return r, false, err
	}
	state, version, err := s.swapper.Load(ctx, key)
	if err != nil {
		return r, false, err
	}
	result := s.step.Func(state, args)
	switch {
	case result.Corrupt:
		return r, false, store.ErrCorrupt
	case result.State == nil:
		return result.Reply, true, nil
	}
	done, err = s.swapper.Swap(ctx, key, version, result.State, max(store.TTL(result.TTL), ttlFloor))
	return result.Reply, done, err
}

// pause waits a random time that grows with the attempts, up to 4 ms.
func pause(ctx context.Context, attempt int) error {
	longest := 50 * time.Microsecond << min(attempt, 6)
	t := time.NewTimer(rand.N(longest))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
