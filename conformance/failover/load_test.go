package failover_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

const (
	callers  = 32
	patience = 2 * time.Second // of a caller with one decision
	pace     = 5 * time.Millisecond
	recovery = time.Minute // longer than any failover, on a machine however busy
)

// target is one key of one limiter.
type target struct {
	limiter  *weir.Weir
	key      string
	struck   bool         // the master to be killed has it
	admitted atomic.Int64 // requests
	answered atomic.Int64 // when the newest decision that came was asked for, in nanoseconds
}

func (g *target) String() string { return fmt.Sprintf("%s of %s", g.key, g.limiter.Algorithm()) }

// take asks for n requests, and counts those that were admitted.
func (g *target) take(ctx context.Context, n int64) (weir.Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now().UnixNano()
	d, err := g.limiter.Take(ctx, g.key, n)
	if err != nil {
		return d, err
	}
	g.answered.Store(began)
	if d.Allowed {
		g.admitted.Add(n)
	}
	return d, nil
}

// targets are so many keys of every algorithm.
func (s *together) targets(t *testing.T, st store.Store, l weir.Limit, keys int) (all []*target) {
	struck := 0
	for _, a := range algorithms.All() {
		w := limiter(t, a, l, st, nil)
		for i := range keys {
			g := &target{limiter: w, key: fmt.Sprint("client", i)}
			g.struck = s.struck(t, w.Keys(g.key)[0])
			if g.struck {
				struck++
			}
			all = append(all, g)
		}
	}
	require.Positive(t, struck)
	return all
}

// each runs f for every target, many at a time.
func each(all []*target, f func(*target)) {
	work := make(chan *target)
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for g := range work {
				f(g)
			}
		})
	}
	for _, g := range all {
		work <- g
	}
	close(work)
	group.Wait()
}

// load are callers of all targets, at random, until the context ends.
type load struct {
	before, failed, spared atomic.Int64 // decisions; errors of keys that were struck, and of others
	group                  sync.WaitGroup
}

func start(ctx context.Context, t *testing.T, all []*target) *load {
	l := new(load)
	for range callers {
		l.group.Go(func() {
			for ctx.Err() == nil {
				g := all[rand.IntN(len(all))]
				_, err := g.take(context.WithoutCancel(ctx), 1)
				switch {
				case err == nil:
					l.before.Add(1)
				case g.struck:
					l.failed.Add(1)
				default:
					l.spared.Add(1)
					t.Errorf("%v, which another master has: %v", g, err)
				}
				time.Sleep(pace)
			}
		})
	}
	return l
}

// recovered waits until every target has a decision that was asked for later than since.
func recovered(t *testing.T, all []*target, since time.Time) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, g := range all {
			if g.answered.Load() <= since.UnixNano() {
				return false
			}
		}
		return true
	}, recovery, pace)
}
