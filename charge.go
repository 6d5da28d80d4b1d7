package weir

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Refunder is a limiter that can give back.
type Refunder interface {
	Limiter
	// Refund gives back the newest n requests of key, as many as still count.
	Refund(ctx context.Context, key string, n int64) (Decision, error)
}

var _ Refunder = (*Weir)(nil)

// Charge is one of the decisions of [TakeAll].
type Charge struct {
	Limiter Refunder
	Key     string
	Cost    int64
}

// refundTimeout bounds what TakeAll gives back after its caller has gone.
const refundTimeout = 2 * time.Second

// TakeAll asks limiters with different keys, such as one per address and one per
// account, and admits where all do: otherwise what the others took is given back. It
// makes a decision's trips for each charge, in turn, and on a denial those of a refund for
// each that was admitted.
//
// It is not atomic: until the refund, which outlives the caller's context, a denied
// request counts where it was admitted, and so may deny others. It never admits more
// than any of the limiters, unless a refund comes so late that what it gives back has
// expired; see [Weir.Refund]. For limits on one key use [Layered], which is atomic.
//
// RetryAfter is when all would admit. If a limiter fails, what was taken is given back
// and its error returned; if giving back fails too, both are.
func TakeAll(ctx context.Context, charges ...Charge) (Decision, error) {
	all, _, err := TakeEach(ctx, charges...)
	return all, err
}

// TakeEach is [TakeAll] that also returns what each limiter answered, in the order of the
// charges. On a denial, those that would have admitted say what is left after giving back.
func TakeEach(ctx context.Context, charges ...Charge) (all Decision, each []Decision, err error) {
	allowed := true
	decisions := make([]Decision, 0, len(charges))
	for _, c := range charges {
		d, err := c.Limiter.Take(ctx, c.Key, c.Cost)
		if err != nil {
			return Decision{}, nil, errors.Join(err, giveBack(ctx, charges, decisions))
		}
		allowed = allowed && d.Allowed
		decisions = append(decisions, d)
	}
	if !allowed {
		err = giveBack(ctx, charges, decisions)
	}
	all.Allowed = allowed
	for _, d := range decisions {
		if d.Degraded {
			all.Degraded, all.note = true, d.note
		}
		if d.Limit > 0 && (all.Limit == 0 || d.Remaining < all.Remaining) {
			all.Limit, all.Remaining = d.Limit, d.Remaining
		}
		all.RetryAfter = max(all.RetryAfter, d.RetryAfter)
		all.ResetAfter = max(all.ResetAfter, d.ResetAfter)
	}
	return all, decisions, err
}

// giveBack undoes the admitted decisions, and puts in their place what is left then.
func giveBack(ctx context.Context, charges []Charge, decisions []Decision) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTimeout)
	defer cancel()
	var failed []error
	for i, d := range decisions {
		if !d.Allowed {
			continue
		}
		back, err := Undo(ctx, charges[i].Limiter, charges[i].Key, charges[i].Cost, d)
		if err != nil {
			failed = append(failed, fmt.Errorf("weir: give back %d: %w", charges[i].Cost, err))
			continue
		}
		decisions[i] = back
	}
	return errors.Join(failed...)
}
