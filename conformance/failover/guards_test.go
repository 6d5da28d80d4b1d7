package failover_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// guards are callers of one key whose limit is used up, with each of the policies for a store that cannot answer.
type guards struct {
	open, closed, back guarded
	group              sync.WaitGroup
}

// guarded is what became of one policy's calls.
type guarded struct {
	guard                           *weir.Guard
	denied, unavailable             atomic.Int64 // by the store; errors
	degradedAllowed, degradedDenied atomic.Int64
	unexpected                      atomic.Pointer[error]
	answered                        atomic.Int64
}

const fallback = 3 // requests that the limiter to fall back to admits

func startGuards(ctx context.Context, t *testing.T, all []*target) *guards {
	var key *target
	for _, g := range all {
		if g.struck {
			key = g
		}
	}
	in := memory.New(nil)
	t.Cleanup(func() { _ = in.Close() })
	opts := &weir.GuardOptions{Timeout: patience, Pause: 20 * time.Millisecond}
	g := new(guards)
	g.open.guard = weir.FailOpen(key.limiter, opts)
	g.closed.guard = weir.FailClosed(key.limiter, opts)
	g.back.guard = weir.FallBack(key.limiter, limiter(t, algorithms.GCRA(nil), weir.Limit{Count: fallback, Window: ages}, in, nil), opts)
	for _, one := range []*guarded{&g.open, &g.closed, &g.back} {
		g.group.Go(func() {
			for ctx.Err() == nil {
				one.call(context.WithoutCancel(ctx), key.key)
				time.Sleep(pace)
			}
		})
	}
	return g
}

func (g *guarded) call(ctx context.Context, key string) {
	began := time.Now().UnixNano()
	d, err := g.guard.Take(ctx, key, 1)
	switch {
	case errors.Is(err, weir.ErrUnavailable):
		g.unavailable.Add(1)
	case err != nil:
		g.unexpected.Store(&err)
	case d.Degraded && d.Allowed:
		g.degradedAllowed.Add(1)
	case d.Degraded:
		g.degradedDenied.Add(1)
	case d.Allowed:
		err = errors.New("admitted by the store, beyond the limit")
		g.unexpected.Store(&err)
	default:
		g.denied.Add(1)
		g.answered.Store(began)
	}
}

// recovered waits until the store decides again for each.
func (g *guards) recovered(t *testing.T) {
	since := time.Now().UnixNano()
	require.Eventually(t, func() bool {
		return min(g.open.answered.Load(), g.closed.answered.Load(), g.back.answered.Load()) > since
	}, recovery, pace)
}

// check holds what each policy did against what it is for.
func (g *guards) check(t *testing.T) {
	for name, one := range map[string]*guarded{"FailOpen": &g.open, "FailClosed": &g.closed, "FallBack": &g.back} {
		if err := one.unexpected.Load(); err != nil {
			t.Errorf("%s: %v", name, *err)
		}
	}
	require.Positive(t, g.open.degradedAllowed.Load())
	require.Zero(t, g.open.degradedDenied.Load())
	require.Zero(t, g.open.unavailable.Load())

	require.Positive(t, g.closed.unavailable.Load())
	require.Zero(t, g.closed.degradedAllowed.Load()+g.closed.degradedDenied.Load())

	require.EqualValues(t, fallback, g.back.degradedAllowed.Load())
	require.Positive(t, g.back.degradedDenied.Load())
	require.Zero(t, g.back.unavailable.Load())
}
