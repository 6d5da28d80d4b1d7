package weir

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Wait takes n for key as soon as the limit admits it: for clients of somebody else's
// API. Between its tries it sleeps for as long as the limiter says, so it takes one try
// where nobody else takes from the key. There is no order among those who wait.
//
// It returns an [*Exceeded] at once where the cost can never be admitted, or not before
// the context's deadline; the latter also wraps [context.DeadlineExceeded]. A context
// that ends while it sleeps gives its own error, and a limiter that fails its own.
func Wait(ctx context.Context, l Limiter, key string, n int64) (Decision, error) {
	for {
		d, err := l.Take(ctx, key, n)
		if err != nil || d.Allowed {
			return d, err
		}
		exceeded := &Exceeded{Cost: n, Decision: d}
		if d.RetryAfter == Never {
			return d, exceeded
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d.RetryAfter {
			return d, errors.Join(exceeded, context.DeadlineExceeded)
		}
		if err := sleep(ctx, d.RetryAfter); err != nil {
			return d, fmt.Errorf("weir: %w", err)
		}
	}
}

func sleep(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
