package racy

import (
	"context"
	"slices"
	"sync"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// MemoryNaive is "memory-naive": a plain map from key to the times of its requests, in
// the process, whatever the store. Every access to the map is locked, as the race
// detector demands, and so it never crashes.
//
// What is wrong: the lock covers each access, not the decision. Between reading the
// times and writing them anybody else may read the same ones, be admitted too, and
// then overwrite what the others wrote: the surplus is admitted and forgotten. That
// no data race is reported does not mean that there is no race.
//
// The map is per process: behind a balancer, n processes admit n times the limit. And
// nothing ever leaves it: a key seen once is kept until the process ends, so whoever
// invents keys fills the memory. Nor can a key be reset, since nothing of it is in the store.
func MemoryNaive() weir.Algorithm { return memoryNaive{} }

type memoryNaive struct{}

func (memoryNaive) Name() string   { return "memory-naive" }
func (memoryNaive) String() string { return "memory-naive" }

func (memoryNaive) Shape(l weir.Limit) (weir.Shape, error) {
	return weir.Shape{
		Format:    "1",
		Capacity:  l.Count,
		Guarantee: weir.Guarantee{MaxInWindow: l.Count},
		Plans: []weir.Plan{{
			Name:    "map in this process",
			Racy:    true,
			MaxCost: maxEntries,
			Bind: func(b weir.Binding) (weir.Bound, error) {
				return &naiveMap{
					binding: b, limit: l.Count, window: l.Window.Microseconds(), times: map[string][]int64{},
				}, nil
			},
		}},
	}, nil
}

type naiveMap struct {
	binding       weir.Binding
	limit, window int64

	mu    sync.Mutex
	times map[string][]int64
}

// Keys returns none: nothing is in the store.
func (m *naiveMap) Keys(string) []string { return nil }

func (m *naiveMap) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	if err := ctx.Err(); err != nil {
		return store.Reply{}, err
	}
	times := m.read(key)
	at, err := now(m.binding)
	if err != nil {
		return store.Reply{}, err
	}
	times = slices.DeleteFunc(times, func(t int64) bool { return t <= at-m.window })
	slices.Sort(times) // callers that read their clocks before writing come out of order
	free := m.limit - int64(len(times))
	if cost > free {
		leaves := times[cost-free-1] // the last that must go
		return store.Reply{
			Remaining:  free,
			RetryAfter: leaves + m.window - at, ResetAfter: times[len(times)-1] + m.window - at,
		}, nil
	}
	for range cost {
		times = append(times, at)
	}
	if cost > 0 {
		m.write(key, times) // whatever others wrote since the read is lost
	}
	r := store.Reply{Allowed: true, Remaining: free - cost}
	if len(times) > 0 {
		r.ResetAfter = slices.Max(times) + m.window - at
	}
	return r, nil
}

func (m *naiveMap) read(key string) []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.times[key])
}

func (m *naiveMap) write(key string, times []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.times[key] = times
}
