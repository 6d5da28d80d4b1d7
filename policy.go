package weir

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirlimits/weir/store"
)

// ErrUnavailable is what errors.Is finds in the error of a [Guard] whose store cannot
// answer. The store's own error is wrapped with it.
var ErrUnavailable = errors.New("weir: store unavailable")

// GuardOptions are the options of [FailOpen], [FailClosed] and [FallBack]. Zero or less
// means the default.
type GuardOptions struct {
	// Timeout bounds every decision of the store; the default is 100 ms. It works
	// through the context, which every store of this module obeys. Callers' own
	// deadlines should be longer: one that passes first is theirs, not a failure.
	Timeout time.Duration
	// Failures is how many failures in a row open the breaker; the default is 5.
	// While it is open the store is not asked, for any key: also where only one of a
	// cluster's masters does not answer.
	Failures int
	// Pause is how long the open breaker waits before one caller tries the store again;
	// the default is 500 ms.
	Pause time.Duration
}

// Guard bounds how long a limiter's decision takes and says what happens when its store
// cannot answer. It recovers by itself: once the store answers, within Pause and one
// Timeout, where there are requests. A client that pauses by itself adds to that, as that of
// Redis does by up to a second after some dozens of connections were refused.
//
// A request whose context is done is neither a denial nor a failure: it gets its
// context's error. Input that is refused, such as a cost below zero, stays an error.
// Errors that concern one key, or a store that is full, are met as the others are but do
// not open the breaker, since the store did answer.
type Guard struct {
	inner    Limiter
	timeout  time.Duration
	breaker  breaker
	closed   bool    // fail closed
	fallback Limiter // or nil
}

var _ Refunder = (*Guard)(nil)

// FailOpen admits, degraded and uncounted, what the limiter's store cannot decide. A nil
// opts means the defaults.
func FailOpen(l Limiter, opts *GuardOptions) *Guard { return newGuard(l, opts) }

// FailClosed refuses what the limiter's store cannot decide: Take returns an error that
// wraps [ErrUnavailable]. A nil opts means the defaults.
func FailClosed(l Limiter, opts *GuardOptions) *Guard {
	g := newGuard(l, opts)
	g.closed = true
	return g
}

// FallBack lets another limiter, on a store that does not fail with the first, such as
// one in this process, decide what the first one's store cannot; those decisions are
// degraded. The two count apart: a window that saw both may admit what both admit, and
// each process falls back to its own. A nil opts means the defaults.
func FallBack(l, to Limiter, opts *GuardOptions) *Guard {
	g := newGuard(l, opts)
	g.fallback = to
	return g
}

func newGuard(l Limiter, opts *GuardOptions) *Guard {
	o := GuardOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Timeout <= 0 {
		o.Timeout = 100 * time.Millisecond
	}
	if o.Failures <= 0 {
		o.Failures = 5
	}
	if o.Pause <= 0 {
		o.Pause = 500 * time.Millisecond
	}
	start := time.Now()
	g := &Guard{inner: l, timeout: o.Timeout}
	b := &g.breaker
	b.failures, b.pause, b.lease = int32(min(o.Failures, MaxCount)), o.Pause, o.Timeout+o.Pause
	b.now = func() time.Duration { return time.Since(start) }
	return g
}

// Take implements [Limiter].
func (g *Guard) Take(ctx context.Context, key string, n int64) (Decision, error) {
	d, err := g.ask(ctx, func(ctx context.Context) (Decision, error) { return g.inner.Take(ctx, key, n) })
	cause, failed := err.(*failure)
	switch {
	case !failed:
		return d, err
	case n < 0:
		return Decision{}, &FieldError{Field: "cost", Value: fmt.Sprint(n), Want: "0 or more"}
	case g.closed:
		return Decision{}, cause
	case g.fallback == nil:
		return open(cause), nil
	}
	d, err = g.fallback.Take(ctx, key, n)
	if err != nil {
		return Decision{}, errors.Join(cause, err)
	}
	taker := g.fallback
	if d.note != nil {
		taker = d.note.taker
	}
	d.Degraded, d.note = true, &note{cause: cause, taker: taker}
	return d, nil
}

func open(cause error) Decision {
	return Decision{Allowed: true, Degraded: true, note: &note{cause: cause}}
}

// failure is why the store did not decide.
type failure struct{ cause error }

func (f *failure) Error() string {
	if f.cause == nil {
		return ErrUnavailable.Error()
	}
	return ErrUnavailable.Error() + ": " + f.cause.Error()
}

func (f *failure) Unwrap() []error { return []error{ErrUnavailable, f.cause} }

// ask puts a question to the store, unless the breaker is open. The error is a
// *failure where the store did not decide.
func (g *Guard) ask(ctx context.Context, question func(context.Context) (Decision, error)) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Decision{}, fmt.Errorf("weir: %w", err)
	}
	may, lease := g.breaker.enter()
	if !may {
		return Decision{}, &failure{g.breaker.last()}
	}
	bounded := newDeadline(ctx, g.timeout)
	d, err := question(bounded)
	bounded.end()
	_, input := errors.AsType[*FieldError](err)
	switch {
	case err == nil:
		g.breaker.succeeded()
		return d, nil
	case ctx.Err() != nil:
		g.breaker.left(lease)
		return Decision{}, fmt.Errorf("weir: %w", ctx.Err())
	case input, errors.Is(err, errors.ErrUnsupported):
		g.breaker.left(lease)
		return d, err
	case answered(err):
		g.breaker.succeeded()
	default:
		g.breaker.failed(lease, err)
	}
	return Decision{}, &failure{err}
}

// answered tells whether an error is the answer of a store that works: were these to
// open the breaker, whoever fills a store with keys could switch all limits off.
func answered(err error) bool {
	for _, e := range []error{store.ErrFull, store.ErrCorrupt, store.ErrContended, store.ErrOverflow} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Refund implements [Refunder] on the guarded limiter; see [Undo] for giving back what
// may have been taken elsewhere. What a store that cannot answer does not give back is
// an error only with [FailClosed].
func (g *Guard) Refund(ctx context.Context, key string, n int64) (Decision, error) {
	d, err := g.ask(ctx, func(ctx context.Context) (Decision, error) { return refund(ctx, g.inner, key, n) })
	if cause, failed := err.(*failure); failed && !g.closed {
		return open(cause), nil
	}
	return d, err
}

// Peek implements [Limiter].
func (g *Guard) Peek(ctx context.Context, key string) (Decision, error) { return g.Take(ctx, key, 0) }

// Reset implements [Limiter]: the key is forgotten where it may be known, also by the
// limiter to fall back to. A store that cannot answer is an error, whatever the policy.
func (g *Guard) Reset(ctx context.Context, key string) error {
	_, err := g.ask(ctx, func(ctx context.Context) (Decision, error) { return Decision{}, g.inner.Reset(ctx, key) })
	if g.fallback != nil {
		err = errors.Join(err, g.fallback.Reset(ctx, key))
	}
	return err
}

// Unwrap returns the guarded limiter, for [As].
func (g *Guard) Unwrap() Limiter { return g.inner }
