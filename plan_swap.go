package weir

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/weirlimits/weir/internal/combine"
	"github.com/weirlimits/weir/store"
)

// SwapPlan runs a step's Go function between a load and a compare-and-swap: two round
// trips, and two more for each time that another process was faster.
//
// Callers of one process that ask for one key at the same time are decided together, in the
// order in which they came: one load, the function for each, one swap. So a hot key is
// contended by processes, not by callers. A failed swap means that somebody else's
// succeeded, so the processes together always advance; a random pause spreads their attempts.
func SwapPlan(step *store.Step, params []int64) Plan {
	return Plan{
		Name:  "compare-and-swap",
		Needs: store.CapSwap,
		Trips: 2, DeniedTrips: 1, Refunds: true,
		Step: step, Params: params,
		Bind: func(b Binding) (Bound, error) {
			s := &swapBound{step: step, params: params, binding: b, swapper: b.Store.(store.Swapper)}
			s.together = combine.NewDecisions(s.serve)
			return s, nil
		},
	}
}

// swapAttempts bounds a decision's swaps. With one contender for each of 64
// processes a decision loses so often about once in 10^7.
const swapAttempts = 1024

type swapBound struct {
	step     *store.Step
	params   []int64
	binding  Binding
	swapper  store.Swapper
	together combine.Decisions
}

func (s *swapBound) Keys(key string) []string { return []string{s.binding.Space + key} }

func (s *swapBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	return s.together.Take(ctx, key, cost)
}

// serve decides the asks as if they had come one after another.
func (s *swapBound) serve(ctx context.Context, key string, asks []*combine.Ask) error {
	for attempt := range swapAttempts {
		if done, err := s.try(ctx, s.binding.Space+key, asks); done || err != nil {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
	return store.ErrContended
}

// try makes one attempt. done is false if another process's swap came between.
func (s *swapBound) try(ctx context.Context, key string, asks []*combine.Ask) (done bool, err error) {
	now, ttlFloor := time.Now, time.Duration(0)
	if s.binding.Clock != nil {
		now, ttlFloor = s.binding.Clock, store.HousekeepingTTL
	}
	args := store.Args{Params: s.params}
	if args.Now, err = Micros(now()); err != nil {
		return false, err
	}
	state, version, err := s.swapper.Load(ctx, key)
	if err != nil {
		return false, err
	}
	var ttl int64
	changed := false
	for _, ask := range asks {
		args.Cost = ask.Cost
		result := s.step.Func(state, args)
		if result.Corrupt {
			return false, store.ErrCorrupt
		}
		ask.Reply = result.Reply
		if result.State != nil {
			state, ttl, changed = result.State, result.TTL, true
		}
	}
	if !changed {
		return true, nil
	}
	return s.swapper.Swap(ctx, key, version, state, max(store.TTL(ttl), ttlFloor))
}

// pause waits a random time that grows with the attempts, up to 4 ms.
func pause(ctx context.Context, attempt int) error {
	longest := 50 * time.Microsecond << min(attempt, 6)
	return sleep(ctx, rand.N(longest))
}
