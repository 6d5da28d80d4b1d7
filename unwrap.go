package weir

import (
	"context"
	"errors"
	"fmt"
)

// As finds the first limiter of type T among l and those that it wraps, as
// Unwrap() Limiter tells. It is for reading what a limiter is, such as
// As[*Weir](l) for its limit; a decision by what it finds goes around the wrappers.
func As[T any](l Limiter) (T, bool) {
	for {
		if t, ok := l.(T); ok {
			return t, true
		}
		u, ok := l.(interface{ Unwrap() Limiter })
		if !ok {
			var none T
			return none, false
		}
		l = u.Unwrap()
	}
}

// Undo gives back n of what the decision d took from l for key, to whoever took it: a
// degraded decision may have taken from another limiter than l, or from none, and then
// [Refunder] would give back what somebody else took. A limiter that cannot refund gives
// [errors.ErrUnsupported].
func Undo(ctx context.Context, l Limiter, key string, n int64, d Decision) (Decision, error) {
	switch {
	case d.note == nil:
		return refund(ctx, l, key, n)
	case d.note.taker == nil:
		return d, nil
	default:
		return refund(ctx, d.note.taker, key, n)
	}
}

// refund asks l, where it can refund. Every wrapper is a Refunder, so that none hides
// that its inner limiter is one; where that is none, this is their answer.
func refund(ctx context.Context, l Limiter, key string, n int64) (Decision, error) {
	if r, ok := l.(Refunder); ok {
		return r.Refund(ctx, key, n)
	}
	return Decision{}, fmt.Errorf("weir: refund: %T: %w", l, errors.ErrUnsupported)
}
