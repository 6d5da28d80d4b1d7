package racy_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/racy"
	"github.com/weirlimits/weir/store"
)

const callers = 20

// gate holds whoever comes until all callers are there. Closed by then it lets all
// through, and before it is armed too.
type gate struct {
	armed   atomic.Bool
	arrived sync.WaitGroup
}

func newGate() *gate {
	g := &gate{}
	g.arrived.Add(callers)
	return g
}

func (g *gate) pass() {
	if g.armed.Load() {
		g.arrived.Done()
		g.arrived.Wait()
	}
}

// heldSet holds callers between the count and the addition. As a wrapper it
// implements what it passes on, and no more.
type heldSet struct {
	store.SortedSet
	gate *gate
}

func (h heldSet) Traits() store.Traits { return only(h.SortedSet, store.CapSortedSet) }

func (h heldSet) AddMembers(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
	h.gate.pass()
	return h.SortedSet.AddMembers(ctx, key, ttl, members...)
}

// heldList holds callers between the look at the oldest and the push.
type heldList struct {
	store.List
	gate *gate
}

func (h heldList) Traits() store.Traits { return only(h.List, store.CapList) }

func (h heldList) PushFront(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
	h.gate.pass()
	return h.List.PushFront(ctx, key, ttl, values...)
}

func only(st store.Store, c store.Capability) store.Traits {
	t := st.Traits()
	t.Capabilities = c
	return t
}

// At 9 of 10, twenty callers who look before one of them writes are all admitted: 29
// stand in a window of 10.
func TestTwentyGetIn(t *testing.T) {
	each(t, func(t *testing.T, a weir.Algorithm) {
		g := newGate()
		clock := func() time.Time { return start }
		var st store.Store
		switch a.Name() {
		case racy.SlidingLog().Name():
			st = heldSet{newMemory(t), g}
		case racy.RingLog().Name():
			st = heldList{newMemory(t), g}
		default: // it looks, reads the clock, and writes
			st = newMemory(t)
			clock = func() time.Time { g.pass(); return start }
		}
		w, err := weir.New(a, weir.Limit{Count: 10, Window: time.Minute}, st, &weir.Options{Clock: clock})
		require.NoError(t, err)
		require.Equal(t, 9, takeAll(t, w, 9))

		g.armed.Store(true)
		var admitted atomic.Int64
		var done sync.WaitGroup
		for range callers {
			done.Go(func() {
				d, err := w.Take(t.Context(), "k", 1)
				if err == nil && d.Allowed {
					admitted.Add(1)
				}
			})
		}
		done.Wait()
		require.EqualValues(t, 29, 9+admitted.Load())

		g.armed.Store(false)
		require.Zero(t, takeAll(t, w, 1), "and it takes itself for full")
	})
}
