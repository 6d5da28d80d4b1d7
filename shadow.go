package weir

import (
	"context"
	"errors"
)

// Shadow decides as its limiter does and never denies: for trying a limit on real
// traffic. What the limiter itself says, an observer inside tells:
//
//	trial := weir.NewShadow(weir.Observe(limiter, "new-limit", observer))
//
// An admitted request counts as ever, and one that would have been denied does not. A
// limiter that fails admits, degraded; one whose store may be slow should be guarded.
type Shadow struct{ inner Limiter }

var _ Refunder = (*Shadow)(nil)

// NewShadow returns a limiter that asks l and admits whatever it answers.
func NewShadow(l Limiter) *Shadow { return &Shadow{l} }

// Take implements [Limiter]. It returns an error only for a context that is done and
// for wrong input.
func (s *Shadow) Take(ctx context.Context, key string, n int64) (Decision, error) {
	d, err := s.inner.Take(ctx, key, n)
	var input *FieldError
	switch {
	case err == nil && !d.Allowed:
		d.Allowed, d.RetryAfter, d.note = true, 0, &note{cause: d.Cause()}
	case err == nil, ctx.Err() != nil, errors.As(err, &input):
	default:
		return open(err), nil
	}
	return d, err
}

// Peek implements [Limiter].
func (s *Shadow) Peek(ctx context.Context, key string) (Decision, error) { return s.Take(ctx, key, 0) }

// Reset implements [Limiter].
func (s *Shadow) Reset(ctx context.Context, key string) error { return s.inner.Reset(ctx, key) }

// Refund implements [Refunder]. Give back with [Undo] where a request may have been one
// that took nothing.
func (s *Shadow) Refund(ctx context.Context, key string, n int64) (Decision, error) {
	return refund(ctx, s.inner, key, n)
}

// Unwrap returns the limiter that is asked, for [As].
func (s *Shadow) Unwrap() Limiter { return s.inner }
