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
// than any of the limiters. For limits on one key use [Layered], which is atomic.
//
// RetryAfter is when all would admit. If a limiter fails, what was taken is given back
// and its error returned; if giving back fails too, both are.
func TakeAll(ctx context.Context, charges ...Charge) (Decision, error) {
	var all Decision
	var taken []Charge
	for i, c := range charges {
		d, err := c.Limiter.Take(ctx, c.Key, c.Cost)
		if err != nil {
			return Decision{}, errors.Join(err, giveBack(ctx, taken))
		}
		if d.Allowed {
			taken = append(taken, c)
		}
		if i == 0 {
			all = d
			continue
		}
		if d.Remaining < all.Remaining {
			all.Limit, all.Remaining = d.Limit, d.Remaining
		}
		all.Allowed = all.Allowed && d.Allowed
		all.RetryAfter = max(all.RetryAfter, d.RetryAfter)
		all.ResetAfter = max(all.ResetAfter, d.ResetAfter)
	}
	if !all.Allowed {
		return all, giveBack(ctx, taken)
	}
	return all, nil
}

func giveBack(ctx context.Context, taken []Charge) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTimeout)
	defer cancel()
	var failed []error
	for _, c := range taken {
		if _, err := c.Limiter.Refund(ctx, c.Key, c.Cost); err != nil {
			failed = append(failed, fmt.Errorf("weir: give back %d: %w", c.Cost, err))
		}
	}
	return errors.Join(failed...)
}
