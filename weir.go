// Package weir runs one rate-limit algorithm on the backend that you have.
//
//	st := memory.New(nil)
//	limiter, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 10, Window: time.Second}, st, nil)
//	...
//	d, err := limiter.Take(ctx, "203.0.113.9", 1)
//	if err != nil { ... }                    // the backend could not answer
//	if !d.Allowed { wait(d.RetryAfter) }     // a denial is an answer, not an error
//
// An [Algorithm] declares the plans by which it can run; [New] takes the first one
// whose needs the store meets, and from then on every decision goes that one way.
// Where none fits, New returns an [UnsupportedError].
//
// # Semantics, the same on every store
//
// The window is half-open, (t-W, t]: an event exactly one window old has expired.
// A decision is all or nothing. Denied requests consume nothing, unless the
// algorithm says otherwise. Times are whole microseconds.
package weir

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/weirlimits/weir/store"
)

// Limiter decides requests by key. Implementations are safe for concurrent use.
type Limiter interface {
	// Take asks for n requests at once for key: all are admitted, or none. n of zero
	// peeks: it is always allowed and writes nothing. n below zero is an error. n above
	// the capacity is denied with RetryAfter [Never] and writes nothing.
	//
	// An error means that the backend could not answer; whether it counted is then
	// unknown, and nothing is sent a second time. A context that is done gives its
	// own error.
	Take(ctx context.Context, key string, n int64) (Decision, error)
	// Peek tells what is left for key. It is Take with n of zero.
	Peek(ctx context.Context, key string) (Decision, error)
	// Reset forgets key.
	Reset(ctx context.Context, key string) error
}

// Options are the rarely changed properties of a [Weir].
type Options struct {
	// Prefix begins every key in the store, and so names what is limited: limiters
	// that count different things need different prefixes, also where algorithm and
	// window are the same. 1 to 64 printable ASCII characters other than space,
	// "/", "{" and "}"; the default is "weir".
	Prefix string
	// Clock replaces the store's clock. Then each caller brings its own time, as
	// tests and replays do. It must not give times before 1970 or after 2200. The
	// default is the store's clock, or this process's where the store has none.
	Clock func() time.Time
}

// DefaultPrefix begins keys where no other prefix is asked for.
const DefaultPrefix = "weir"

// Weir is one algorithm with one limit on one store: the plain [Limiter].
type Weir struct {
	algorithm Algorithm
	limit     Limit
	plan      Plan
	bound     Bound
	keys      keyspace
	store     store.Store
	capacity  int64
	maxCost   int64
}

var _ Limiter = (*Weir)(nil)

// New binds an algorithm with a limit to a store. A nil opts means the defaults. It
// returns a [FieldError] for an invalid limit, option or prefix, and an
// [UnsupportedError] if the store can run none of the algorithm's plans. It makes no
// round trip.
func New(a Algorithm, limit Limit, st store.Store, opts *Options) (*Weir, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := limit.Validate(); err != nil {
		return nil, err
	}
	shape, err := a.Shape(limit)
	if err != nil {
		return nil, err
	}
	keys, err := newKeyspace(opts.Prefix, a.Name(), shape.Format, limit.Window)
	if err != nil {
		return nil, err
	}
	plan, err := choosePlan(a, shape.Plans, st)
	if err != nil {
		return nil, err
	}
	if most := st.Traits().MaxTTL; shape.MaxTTL > most {
		return nil, &FieldError{
			Field: "limit window", Value: limit.Window.String(),
			Want: fmt.Sprintf("a shorter one: %s keeps a key for up to %v, and %s keeps none longer than %v",
				a, shape.MaxTTL, st.Traits().Name, most),
		}
	}
	if most := st.Traits().MaxValue; most > 0 && shape.MaxState > most {
		return nil, &FieldError{
			Field: "limit count", Value: strconv.FormatInt(limit.Count, 10),
			Want: fmt.Sprintf("a smaller one: %s may need %d bytes for a key, and %s keeps at most %d",
				a, shape.MaxState, st.Traits().Name, most),
		}
	}
	bound, err := plan.Bind(Binding{Store: st, Space: keys.space, Clock: opts.Clock})
	if err != nil {
		return nil, fmt.Errorf("weir: %s on %s: %w", a, st.Traits().Name, err)
	}
	maxCost := plan.MaxCost
	if maxCost == 0 {
		maxCost = shape.Capacity
	}
	return &Weir{
		algorithm: a, limit: limit, plan: plan, bound: bound, keys: keys,
		store: st, capacity: shape.Capacity, maxCost: maxCost,
	}, nil
}

// Take implements [Limiter].
func (w *Weir) Take(ctx context.Context, key string, n int64) (d Decision, err error) {
	if n < 0 || n > w.capacity || n > w.maxCost {
		return w.unusual(ctx, key, n)
	}
	err = w.decide(ctx, &d, key, n)
	return d, err
}

// decide fills in d, where it is: copying one costs a tenth of a decision in process.
func (w *Weir) decide(ctx context.Context, d *Decision, key string, cost int64) error {
	r, err := w.bound.Take(ctx, w.keys.user(key), cost)
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return w.failed(ctx, err)
	}
	d.Allowed = r.Allowed
	d.Limit = w.capacity
	d.Remaining = min(r.Remaining, w.capacity)
	d.RetryAfter = store.TTL(r.RetryAfter)
	d.ResetAfter = store.TTL(r.ResetAfter)
	return nil
}

// unusual takes a cost that cannot be admitted.
func (w *Weir) unusual(ctx context.Context, key string, n int64) (Decision, error) {
	switch {
	case n < 0:
		return Decision{}, &FieldError{Field: "cost", Value: fmt.Sprint(n), Want: "0 or more"}
	case n <= w.capacity:
		return Decision{}, &FieldError{
			Field: "cost", Value: fmt.Sprint(n),
			Want: fmt.Sprintf("at most %d for %s, which keeps an entry per request", w.maxCost, w.algorithm),
		}
	}
	d, err := w.Take(ctx, key, 0) // never admitted: only look
	if err == nil {
		d.Allowed, d.RetryAfter = false, Never
	}
	return d, err
}

func (w *Weir) failed(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("weir: %s on %s: %w", w.algorithm.Name(), w.store.Traits().Name, err)
}

// Refund gives back the newest n requests of key, as many as still count: what was
// taken and not used, such as the tokens that an answer did not need. Which requests those
// are is not known: where what was taken no longer counts, because its window is over, later
// requests are given back in its place. n below zero is an error. A plan whose data says that it has no refunds gives [errors.ErrUnsupported]. The
// decision tells what is left.
func (w *Weir) Refund(ctx context.Context, key string, n int64) (d Decision, err error) {
	switch {
	case n < 0:
		return Decision{}, &FieldError{Field: "refund", Value: fmt.Sprint(n), Want: "0 or more"}
	case !w.plan.Refunds:
		return Decision{}, fmt.Errorf("weir: refund: %s, plan %s: %w", w.algorithm, w.plan.Name, errors.ErrUnsupported)
	}
	err = w.decide(ctx, &d, key, -min(n, MaxCount))
	return d, err
}

// Peek implements [Limiter].
func (w *Weir) Peek(ctx context.Context, key string) (Decision, error) { return w.Take(ctx, key, 0) }

// Reset implements [Limiter].
func (w *Weir) Reset(ctx context.Context, key string) error {
	if err := w.store.Delete(ctx, w.Keys(key)...); err != nil {
		return fmt.Errorf("weir: reset on %s: %w", w.store.Traits().Name, err)
	}
	return nil
}

// Algorithm returns what decides.
func (w *Weir) Algorithm() Algorithm { return w.algorithm }

// Limit returns the limit.
func (w *Weir) Limit() Limit { return w.limit }

// Plan returns the plan that New chose.
func (w *Weir) Plan() Plan { return w.plan }

// Store returns the store on which decisions are made.
func (w *Weir) Store() store.Store { return w.store }

// Capacity returns the most that one instant admits from idle.
func (w *Weir) Capacity() int64 { return w.capacity }

// Keys returns the full names, in the store, of the keys that may hold state for key
// now. They are all in one Redis Cluster slot.
func (w *Weir) Keys(key string) []string {
	return w.bound.Keys(w.keys.user(key))
}
