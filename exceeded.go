package weir

import (
	"context"
	"fmt"
)

// Exceeded is a denial as an error, from [Admit] and [Wait]. It does not hold the key.
type Exceeded struct {
	Cost     int64
	Decision Decision // not allowed
}

// Error returns one line that says when to try again.
func (e *Exceeded) Error() string {
	if e.Decision.RetryAfter == Never {
		return fmt.Sprintf("weir: limit exceeded: %d is above the capacity of %d", e.Cost, e.Decision.Limit)
	}
	return fmt.Sprintf("weir: limit exceeded: try again in %v", e.Decision.RetryAfter)
}

// Admit is Take for those who want one error to look at: nil where the request is
// admitted, an [*Exceeded] where it is denied, and else why the limiter could not answer.
func Admit(ctx context.Context, l Limiter, key string, n int64) error {
	d, err := l.Take(ctx, key, n)
	if err != nil {
		return err
	}
	if !d.Allowed {
		return &Exceeded{Cost: n, Decision: d}
	}
	return nil
}
