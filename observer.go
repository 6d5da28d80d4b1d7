package weir

import (
	"context"
	"time"
)

// Event is one decision, as an [Observer] is told of it.
type Event struct {
	// Limiter is the name given to [Observe].
	Limiter string
	// Key is the user's key. It may be personal: an address, an account.
	Key string
	// Cost is what was asked for: zero is a peek, below zero was given back.
	Cost int64
	// Decision is the answer. Where it is degraded, its Cause is the store's error.
	Decision Decision
	// Err is why there was no answer. It wraps the context's error for a caller that
	// left, which is no failure.
	Err error
	// Elapsed is how long the decision took.
	Elapsed time.Duration
}

// Observer is told of every decision, once, by the goroutine that made it: it must be
// quick and safe for concurrent use.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is a function as an [Observer].
type ObserverFunc func(ctx context.Context, e Event)

// Observe implements [Observer].
func (f ObserverFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// Observed is a limiter whose decisions are observed, and are not changed by it.
type Observed struct {
	inner    Limiter
	name     string
	observer Observer
}

var _ Refunder = (*Observed)(nil)

// Observe tells o of the decisions and refunds of l, under a name. Outside a [Guard] it sees
// what callers see, degraded decisions included; inside, what the store answers.
func Observe(l Limiter, name string, o Observer) *Observed { return &Observed{l, name, o} }

// Take implements [Limiter].
func (o *Observed) Take(ctx context.Context, key string, n int64) (Decision, error) {
	start := time.Now()
	d, err := o.inner.Take(ctx, key, n)
	o.tell(ctx, key, n, d, err, start)
	return d, err
}

// Peek implements [Limiter].
func (o *Observed) Peek(ctx context.Context, key string) (Decision, error) {
	start := time.Now()
	d, err := o.inner.Peek(ctx, key)
	o.tell(ctx, key, 0, d, err, start)
	return d, err
}

// Refund implements [Refunder].
func (o *Observed) Refund(ctx context.Context, key string, n int64) (Decision, error) {
	start := time.Now()
	d, err := refund(ctx, o.inner, key, n)
	o.tell(ctx, key, -n, d, err, start)
	return d, err
}

func (o *Observed) tell(ctx context.Context, key string, cost int64, d Decision, err error, start time.Time) {
	o.observer.Observe(ctx, Event{
		Limiter: o.name, Key: key, Cost: cost, Decision: d, Err: err, Elapsed: time.Since(start),
	})
}

// Reset implements [Limiter]. It is no decision, and not observed.
func (o *Observed) Reset(ctx context.Context, key string) error { return o.inner.Reset(ctx, key) }

// Unwrap returns the limiter that is observed, for [As].
func (o *Observed) Unwrap() Limiter { return o.inner }
