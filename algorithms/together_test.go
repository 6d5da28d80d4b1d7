package algorithms_test

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
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// gated has a counter or compare-and-swap and nothing else. It holds up its first round
// trip until the test opens the gate, and counts them all.
type gated struct {
	*memory.Store
	has     store.Capability
	calls   atomic.Int64
	first   sync.Once
	entered chan struct{}
	gate    chan struct{}
	broken  error // what giving back meets
}

func newGated(t *testing.T, has store.Capability) *gated {
	s := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &gated{Store: s, has: has, entered: make(chan struct{}), gate: make(chan struct{})}
}

func (g *gated) Traits() store.Traits {
	traits := g.Store.Traits()
	traits.Capabilities = g.has
	return traits
}

func (g *gated) trip() {
	g.calls.Add(1)
	g.first.Do(func() {
		close(g.entered)
		<-g.gate
	})
}

func (g *gated) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
	g.trip()
	if delta < 0 && g.broken != nil {
		return 0, g.broken
	}
	return g.Store.Add(ctx, key, delta, ttl)
}

func (g *gated) Read(ctx context.Context, keys ...string) ([]int64, error) {
	g.trip()
	return g.Store.Read(ctx, keys...)
}

func (g *gated) Load(ctx context.Context, key string) ([]byte, store.Version, error) {
	g.trip()
	return g.Store.Load(ctx, key)
}

func (g *gated) Swap(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
	g.trip()
	return g.Store.Swap(ctx, key, v, value, ttl)
}

// asked is what one of many callers got.
type asked struct {
	weir.Decision
	err error
}

// crowd lets one caller be held up at the store while the others come, and then all go on.
func crowd(g *gated, l weir.Limiter, callers int) []asked {
	out := make([]asked, callers)
	var group, coming sync.WaitGroup
	ask := func(i int) { out[i].Decision, out[i].err = l.Take(context.Background(), "hot", 1) }
	group.Go(func() { ask(0) })
	<-g.entered
	coming.Add(callers - 1)
	for i := 1; i < callers; i++ {
		group.Go(func() {
			coming.Done()
			ask(i)
		})
	}
	coming.Wait()
	close(g.gate)
	group.Wait()
	return out
}

// Callers of one key share round trips, and each gets the answer that it would have had alone:
// as many are admitted as there is room for, and no two are told that the same place is left.
func TestCallersOfOneKeyAreDecidedTogether(t *testing.T) {
	const callers, limit = 300, 200
	for _, has := range []store.Capability{store.CapSwap, store.CapCounter} {
		for _, a := range algorithms.All() {
			g := newGated(t, has)
			l, err := weir.New(a, weir.Limit{Count: limit, Window: time.Hour}, g, &weir.Options{
				Clock: func() time.Time { return time.UnixMicro(epoch) },
			})
			if errors.Is(err, errors.ErrUnsupported) {
				continue
			}
			require.NoError(t, err)
			t.Run(has.String()+"/"+a.Name(), func(t *testing.T) {
				left := map[int64]bool{}
				for _, d := range crowd(g, l, callers) {
					require.NoError(t, d.err)
					if d.Allowed {
						require.False(t, left[d.Remaining], "%d places left, told twice", d.Remaining)
						left[d.Remaining] = true
					} else {
						require.Positive(t, d.RetryAfter)
					}
				}
				require.Len(t, left, limit)
				require.Less(t, g.calls.Load(), int64(callers), "round trips")
			})
		}
	}
}

// Where giving back fails, those who were admitted have their answer all the same.
func TestALostRollbackIsTheErrorOfTheDenied(t *testing.T) {
	const callers, limit = 300, 200
	for _, a := range []weir.Algorithm{algorithms.FixedWindow(), algorithms.SlidingCounter()} {
		g := newGated(t, store.CapCounter)
		g.broken = errors.New("gone away")
		l, err := weir.New(a, weir.Limit{Count: limit, Window: time.Hour}, g, &weir.Options{
			Clock: func() time.Time { return time.UnixMicro(epoch) },
		})
		require.NoError(t, err)
		admitted := 0
		for _, d := range crowd(g, l, callers) {
			if d.err != nil {
				require.ErrorIs(t, d.err, g.broken, a.Name())
				continue
			}
			require.True(t, d.Allowed, a.Name())
			admitted++
		}
		require.Equal(t, limit, admitted, a.Name())
	}
}
