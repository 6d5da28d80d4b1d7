package weir

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type deadlineKey struct{}

// ends are the ways in which a decision's context ends, all within two seconds.
var ends = map[string]struct {
	parent func(*testing.T) context.Context
	end    bool // after half a second
}{
	"timeout": {parent: (*testing.T).Context},
	"ended":   {parent: (*testing.T).Context, end: true},
	"parent cancelled": {parent: func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(500*time.Millisecond, func() { cancel(errGone) })
		return ctx
	}},
	"parent cancelled before": {parent: func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errGone)
		return ctx
	}},
	"parent's deadline": {parent: func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, errGone)
		t.Cleanup(cancel)
		return ctx
	}},
	"parent has a later deadline": {parent: func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errGone)
		t.Cleanup(cancel)
		return ctx
	}},
	"parent is one too": {parent: func(t *testing.T) context.Context {
		d := newDeadline(t.Context(), 500*time.Millisecond)
		t.Cleanup(d.end)
		return d
	}},
}

var errGone = errors.New("gone")

// What a store may look at, at any time, is what context.WithTimeout shows, whether or not
// anybody waited for the end.
func TestDeadlineIsAsWithTimeout(t *testing.T) {
	type view struct {
		at                   time.Time
		has, done            bool
		err, cause           error
		value                any
		childErr, childCause error
	}
	for name, c := range ends {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				parent := context.WithValue(c.parent(t), deadlineKey{}, "kept")
				ours := newDeadline(parent, time.Second)
				theirs, cancel := context.WithTimeout(parent, time.Second)
				defer cancel()
				look := func(ctx context.Context) (v view) {
					v.at, v.has = ctx.Deadline()
					v.err, v.cause, v.value = ctx.Err(), context.Cause(ctx), ctx.Value(deadlineKey{})
					if waits || v.err != nil {
						select {
						case <-ctx.Done():
							v.done = true
						default:
						}
						child, stop := context.WithCancel(ctx)
						synctest.Wait()
						v.childErr, v.childCause = child.Err(), context.Cause(child)
						stop()
					}
					return v
				}
				for range 8 {
					require.Equal(t, look(theirs), look(ours), name)
					time.Sleep(250*time.Millisecond + time.Microsecond)
					if c.end && !ours.over && time.Until(ours.at) < 500*time.Millisecond {
						cancel()
						ours.end()
					}
				}
				require.Error(t, ours.Err())
				cancel()
				ours.end()
				require.Equal(t, look(theirs), look(ours), name)
			})
		}
	}
}

// A store that keeps the context, or a goroutine that waits on it, sees its end.
func TestDeadlineOutlivesItsDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeadline(t.Context(), time.Hour)
		var waiting sync.WaitGroup
		waiting.Go(func() { <-d.Done() })
		waiting.Go(func() {
			child, stop := context.WithTimeout(d, 2*time.Hour)
			defer stop()
			<-child.Done()
		})
		called := make(chan struct{})
		context.AfterFunc(d, func() { close(called) })
		synctest.Wait()
		start := time.Now()
		d.end()
		waiting.Wait()
		<-called
		require.Zero(t, time.Since(start))

		late := newDeadline(t.Context(), time.Hour)
		late.end()
		late.end()
		<-late.Done()
		require.Equal(t, context.Canceled, late.Err())
	})
}

// Its users may be many at once: the race detector watches.
func TestDeadlineIsSafeToShare(t *testing.T) {
	for range 100 {
		d := newDeadline(t.Context(), 10*time.Microsecond)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { <-d.Done() })
			all.Go(func() {
				for d.Err() == nil {
					_ = d.Value(deadlineKey{})
				}
			})
			all.Go(d.end)
		}
		all.Wait()
		require.Error(t, d.Err())
		require.Equal(t, d.Err(), context.Cause(d))
	}
}

// What clients make of the context hangs on to it and needs no goroutine of its own.
func TestDeadlineHasNoGoroutines(t *testing.T) {
	d := newDeadline(t.Context(), time.Hour)
	defer d.end()
	before := runtime.NumGoroutine()
	for range 100 {
		_, stop := context.WithCancel(d)
		defer stop()
		defer context.AfterFunc(d, func() {})()
	}
	require.Less(t, runtime.NumGoroutine(), before+50)
}

// Who never waits for the end costs no timer.
func TestDeadlineAllocatesItselfOnly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var sink context.Context
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		d := newDeadline(ctx, time.Second)
		sink = d
		_ = sink.Err()
		_, _ = sink.Deadline()
		d.end()
	}), 1.0)
}
