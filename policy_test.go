package weir_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// limited returns a limiter of n in a minute in this process.
func limited(t *testing.T, n int64) *weir.Weir {
	t.Helper()
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	l, err := weir.New(algorithms.FixedWindowFirstHit(), weir.Limit{Count: n, Window: time.Minute}, st, nil)
	require.NoError(t, err)
	return l
}

// troubled is a limiter whose store can be put into trouble.
type troubled struct {
	*weir.Weir
	trouble atomic.Pointer[func(context.Context) error]
	asked   atomic.Int64
}

func (f *troubled) Take(ctx context.Context, key string, n int64) (weir.Decision, error) {
	f.asked.Add(1)
	if trouble := f.trouble.Load(); trouble != nil {
		if err := (*trouble)(ctx); err != nil {
			return weir.Decision{}, err
		}
	}
	return f.Weir.Take(ctx, key, n)
}

func (f *troubled) set(trouble func(context.Context) error) {
	if trouble == nil {
		f.trouble.Store(nil)
		return
	}
	f.trouble.Store(&trouble)
}

func slow(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// polls is slow too, and looks at the context's end now and then, as a loop does.
func polls(ctx context.Context) error {
	for ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}

// setsDeadline is slow too, and heeds nothing but the deadline, as a connection does.
func setsDeadline(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok {
		time.Sleep(time.Until(at))
		return os.ErrDeadlineExceeded
	}
	time.Sleep(time.Hour)
	return nil
}

func fails(err error) func(context.Context) error { return func(context.Context) error { return err } }

var errDown = errors.New("connection refused")

var guarded = &weir.GuardOptions{Timeout: 100 * time.Millisecond, Failures: 3, Pause: 500 * time.Millisecond}

// RL-095, RL-096: a store that is stopped, hung or slow holds no request longer than the
// deadline, what is configured decides, and all is as before once it answers.
func TestRL095RL096Guard(t *testing.T) {
	for name, trouble := range map[string]func(context.Context) error{
		"stopped": fails(errDown), "hung": slow(time.Hour), "slow": slow(5 * time.Second),
		"polls": polls, "sets a deadline": setsDeadline,
	} {
		for _, policy := range []string{"open", "closed", "fallback"} {
			t.Run(name+"/"+policy, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testGuard(t, trouble, policy) })
			})
		}
	}
}

func testGuard(t *testing.T, trouble func(context.Context) error, policy string) {
	inner := &troubled{Weir: limited(t, 100)}
	var g *weir.Guard
	switch policy {
	case "open":
		g = weir.FailOpen(inner, guarded)
	case "closed":
		g = weir.FailClosed(inner, guarded)
	case "fallback":
		g = weir.FallBack(inner, limited(t, 7), guarded)
	}
	var events []weir.Event
	l := weir.Observe(g, policy, weir.ObserverFunc(func(_ context.Context, e weir.Event) { events = append(events, e) }))

	inner.set(trouble)
	allowed := 0
	for range 20 {
		start := time.Now()
		d, err := l.Take(t.Context(), "k", 1)
		require.LessOrEqual(t, time.Since(start), guarded.Timeout, "within the deadline")
		if policy == "closed" {
			require.ErrorIs(t, err, weir.ErrUnavailable)
			require.Zero(t, d)
			continue
		}
		require.NoError(t, err)
		require.True(t, d.Degraded)
		require.ErrorIs(t, d.Cause(), weir.ErrUnavailable)
		if d.Allowed {
			allowed++
		} else {
			require.Positive(t, d.RetryAfter)
		}
	}
	require.Equal(t, map[string]int{"open": 20, "closed": 0, "fallback": 7}[policy], allowed)
	require.Len(t, events, 20, "each decision is observed once")
	require.Equal(t, int64(guarded.Failures), inner.asked.Load(), "the breaker is open: the store is left in peace")

	time.Sleep(guarded.Pause)
	_, _ = l.Take(t.Context(), "k", 1)
	_, _ = l.Take(t.Context(), "k", 1)
	require.Equal(t, int64(guarded.Failures+1), inner.asked.Load(), "after the pause one caller tries")

	inner.set(nil)
	time.Sleep(guarded.Pause)
	d, err := l.Take(t.Context(), "k", 1)
	require.NoError(t, err)
	require.False(t, d.Degraded)
	require.Equal(t, int64(99), d.Remaining, "what was decided elsewhere did not count in the store")
}

func TestOneCallerTriesTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &troubled{Weir: limited(t, 100)}
		g := weir.FailOpen(inner, guarded)
		inner.set(fails(errDown))
		for range guarded.Failures {
			_, _ = g.Take(t.Context(), "k", 1)
		}
		inner.set(slow(50 * time.Millisecond))
		time.Sleep(guarded.Pause)
		before := inner.asked.Load()
		var degraded atomic.Int64
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if d, _ := g.Take(t.Context(), "k", 1); d.Degraded {
					degraded.Add(1)
				}
			})
		}
		all.Wait()
		require.Equal(t, before+1, inner.asked.Load())
		require.Equal(t, int64(49), degraded.Load())
		d, err := g.Take(t.Context(), "k", 1)
		require.NoError(t, err)
		require.False(t, d.Degraded, "its success closed the breaker")
	})
}

// RL-099: a caller that leaves is neither a denial nor a failure of the store.
func TestRL099CancelledIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &troubled{Weir: limited(t, 1000)}
		g := weir.FallBack(inner, limited(t, 1000), guarded)
		inner.set(slow(50 * time.Millisecond))
		for i := range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			if i%2 == 0 {
				cancel()
			} else {
				time.AfterFunc(10*time.Millisecond, cancel)
			}
			d, err := g.Take(ctx, "k", 1)
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, weir.ErrUnavailable)
			require.Zero(t, d)
			cancel()
		}
		require.Equal(t, int64(50), inner.asked.Load())
		d, err := g.Take(t.Context(), "k", 1)
		require.NoError(t, err)
		require.False(t, d.Degraded, "the breaker did not open")
		require.Equal(t, int64(999), d.Remaining)

		inner.set(fails(errDown))
		for range guarded.Failures {
			_, _ = g.Take(t.Context(), "k", 1)
		}
		time.Sleep(guarded.Pause)
		inner.set(slow(50 * time.Millisecond))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		_, err = g.Take(ctx, "k", 1)
		require.ErrorIs(t, err, context.Canceled)
		d, err = g.Take(t.Context(), "k", 1)
		require.NoError(t, err)
		require.False(t, d.Degraded, "where the one who tried left, the next one tries at once")
	})
}

// What the store answers about one key, or of being full, must not switch limits off.
func TestAnsweredErrorsDoNotOpenTheBreaker(t *testing.T) {
	for _, cause := range []error{store.ErrFull, store.ErrCorrupt, store.ErrContended, store.ErrOverflow} {
		inner := &troubled{Weir: limited(t, 100)}
		g := weir.FailOpen(inner, guarded)
		inner.set(fails(fmt.Errorf("weir: gcra on memory: %w", cause)))
		for range 20 {
			d, err := g.Take(t.Context(), "k", 1)
			require.NoError(t, err)
			require.True(t, d.Degraded)
			require.ErrorIs(t, d.Cause(), cause)
		}
		inner.set(nil)
		d, err := g.Take(t.Context(), "k", 1)
		require.NoError(t, err)
		require.False(t, d.Degraded)
	}
}

func TestGuardRefusesWrongInput(t *testing.T) {
	inner := &troubled{Weir: limited(t, 100)}
	g := weir.FailOpen(inner, guarded)
	var wrong *weir.FieldError
	for range 20 {
		_, err := g.Take(t.Context(), "k", -1)
		require.ErrorAs(t, err, &wrong)
	}
	inner.set(fails(errDown))
	for range 20 {
		_, _ = g.Take(t.Context(), "k", 1)
	}
	_, err := g.Take(t.Context(), "k", -1)
	require.ErrorAs(t, err, &wrong, "also where the store is not asked")
	_, err = weir.FailOpen(noRefunds{inner}, nil).Refund(t.Context(), "k", 1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// noRefunds is a limiter that cannot give back.
type noRefunds struct{ weir.Limiter }

// Undo gives back to the limiter that took.
func TestUndoGivesBackToWhoTook(t *testing.T) {
	inner, to := &troubled{Weir: limited(t, 10)}, limited(t, 10)
	left := func(l weir.Limiter) int64 {
		d, err := l.Peek(t.Context(), "k")
		require.NoError(t, err)
		return d.Remaining
	}
	for _, c := range []struct {
		name    string
		guard   *weir.Guard
		trouble error
		store   int64 // left in the store after a Take of 4 and an Undo of 3
		to      int64
	}{
		{"healthy", weir.FallBack(inner, to, guarded), nil, 9, 10},
		{"fell back", weir.FallBack(inner, to, guarded), errDown, 10, 9},
		{"open", weir.FailOpen(inner, guarded), errDown, 10, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, inner.Reset(t.Context(), "k"))
			require.NoError(t, to.Reset(t.Context(), "k"))
			l := weir.Observe(c.guard, c.name, weir.ObserverFunc(func(context.Context, weir.Event) {}))
			if c.trouble != nil {
				inner.set(fails(c.trouble))
			}
			d, err := l.Take(t.Context(), "k", 4)
			inner.set(nil)
			require.NoError(t, err)
			_, err = weir.Undo(t.Context(), l, "k", 3, d)
			require.NoError(t, err)
			require.Equal(t, c.store, left(inner.Weir))
			require.Equal(t, c.to, left(to))
		})
	}
}

func TestTakeAllOverADegradedLimiter(t *testing.T) {
	down, up := &troubled{Weir: limited(t, 10)}, limited(t, 1)
	down.set(fails(errDown))
	charges := []weir.Charge{
		{Limiter: weir.FailOpen(down, guarded), Key: "k", Cost: 1},
		{Limiter: up, Key: "k", Cost: 1},
	}
	d, each, err := weir.TakeEach(t.Context(), charges...)
	require.NoError(t, err)
	require.Len(t, each, 2)
	require.True(t, d.Allowed)
	require.True(t, d.Degraded)
	require.Equal(t, int64(1), d.Limit, "what is not known does not count")
	d, each, err = weir.TakeEach(t.Context(), charges...)
	require.NoError(t, err)
	require.False(t, d.Allowed)
	require.True(t, each[0].Allowed)
	require.False(t, each[1].Allowed)
	down.set(nil)
	left, err := down.Peek(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, int64(10), left.Remaining, "nothing was taken there, so nothing is given back")
}

// One who tried and outstayed its lease, as a store that obeys no deadline makes it, has no
// say any more: others found since that the store answers.
func TestALateFailureDoesNotReopenTheBreaker(t *testing.T) {
	for _, outcome := range []string{"failed", "left"} {
		synctest.Test(t, func(t *testing.T) {
			inner := &troubled{Weir: limited(t, 100)}
			g := weir.FailOpen(inner, guarded)
			inner.set(fails(errDown))
			for range guarded.Failures {
				_, _ = g.Take(t.Context(), "k", 1)
			}
			time.Sleep(guarded.Pause)
			inner.set(func(context.Context) error { time.Sleep(time.Minute); return errDown })
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			var late sync.WaitGroup
			late.Go(func() { _, _ = g.Take(ctx, "k", 1) })
			synctest.Wait()
			inner.set(nil)
			time.Sleep(guarded.Timeout + guarded.Pause)
			d, err := g.Take(t.Context(), "k", 1)
			require.NoError(t, err)
			require.False(t, d.Degraded, "the lease is over, so another one tries")
			if outcome == "left" {
				leave()
			}
			late.Wait()
			inner.set(slow(50 * time.Millisecond))
			var all sync.WaitGroup
			for range 2 { // of whom an open breaker lets one pass at most
				all.Go(func() {
					d, err := g.Take(t.Context(), "k", 1)
					if err != nil || d.Degraded {
						t.Errorf("%s: %v, %v", outcome, d.Cause(), err)
					}
				})
			}
			all.Wait()
		})
	}
}
