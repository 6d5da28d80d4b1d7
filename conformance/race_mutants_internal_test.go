package conformance

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// raceMutants do right as long as nobody else is there.
var raceMutants = []storeMutant{
	{"loses additions that meet", "counter/atomic", Fail, losesAdditions(2)},
	{"loses additions in a crowd", "counter/atomic", Fail, losesAdditions(33)},
	{"reads an old count while an addition goes on", "counter/linearizable", Fail, func(f *faulty) {
		old := stale[int64]{}
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			return old.write(key, func() (int64, int64, error) {
				before, err := f.inner.Read(ctx, key)
				if err != nil {
					return 0, 0, err
				}
				n, err := f.inner.Add(ctx, key, delta, ttl)
				return n, before[0], err
			})
		}
		f.read = func(ctx context.Context, keys ...string) ([]int64, error) {
			counts, err := f.inner.Read(ctx, keys...)
			for i := range counts {
				counts[i] = old.read(keys[i], counts[i])
			}
			return counts, err
		}
	}},
	{"swaps that meet look first and write later", "swap/atomic", Fail, swapsBlindly(2)},
	{"swaps in a crowd look first and write later", "swap/atomic", Fail, swapsBlindly(33)},
	{"loads an old value while a swap goes on", "swap/linearizable", Fail, func(f *faulty) {
		type state struct {
			value string
			v     store.Version
		}
		old := stale[state]{}
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			if len(value) > faultyMaxValue {
				return false, errors.New("value too large")
			}
			done := false
			_, err := old.write(key, func() (_, before state, err error) {
				b, at, err := f.inner.Load(ctx, key)
				if err != nil {
					return before, before, err
				}
				done, err = f.inner.Swap(ctx, key, v, value, ttl)
				return before, state{string(b), at}, err
			})
			return done, err
		}
		f.load = func(ctx context.Context, key string) ([]byte, store.Version, error) {
			value, v, err := f.inner.Load(ctx, key)
			s := old.read(key, state{string(value), v})
			return []byte(s.value), s.v, err
		}
	}},
	{"loses pushes that meet", "list/atomic", Fail, func(f *faulty) {
		r := newRendezvous(2)
		f.push = func(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
			n, err := f.inner.Len(ctx, key)
			if err != nil {
				return 0, err
			}
			met := r.meet()
			now, err := f.inner.PushFront(ctx, key, ttl, values...)
			if met {
				now = n + int64(len(values))
			}
			return now, err
		}
	}},
	{"tells two who meet that a member is new", "sorted-set/atomic", Fail, func(f *faulty) {
		r := newRendezvous(2)
		f.members = func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
			there, err := f.inner.Range(ctx, key, 0, -1)
			if err != nil {
				return 0, err
			}
			fresh := int64(0)
			for _, m := range members {
				if !slices.ContainsFunc(there, func(t store.Member) bool { return t.Name == m.Name }) {
					fresh++
				}
			}
			met := r.meet()
			n, err := f.inner.AddMembers(ctx, key, ttl, members...)
			if met {
				n = fresh
			}
			return n, err
		}
	}},
	{"runs steps that meet between a read and a write", "script/atomic", Fail, func(f *faulty) {
		r := newRendezvous(2)
		f.prepare = func(step *store.Step, space string) (store.Runner, error) {
			sound, err := f.inner.Prepare(step, space)
			return runnerFunc(func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
				state, _, err := f.inner.Load(ctx, space+key)
				if err != nil || !r.meet() {
					return sound.Run(ctx, key, args)
				}
				now, err := f.inner.Now(ctx)
				if args.OwnTime {
					args.Now = now.UnixMicro()
				}
				res := step.Func(state, args)
				if res.State != nil && err == nil {
					_, err = overwrite(ctx, f.inner, space+key, res.State, store.TTL(res.TTL))
				}
				return res.Reply, err
			}), err
		}
	}},
}

// losesAdditions lets so many who add at once add to the same count.
func losesAdditions(meeting int32) func(f *faulty) {
	return func(f *faulty) {
		r := newRendezvous(meeting)
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			old, err := f.inner.Read(ctx, key)
			if err != nil || !r.meet() {
				return f.inner.Add(ctx, key, delta, ttl)
			}
			return old[0] + delta, errors.Join(f.inner.Delete(ctx, key), add(ctx, f, key, old[0]+delta, ttl))
		}
	}
}

// swapsBlindly lets so many who swap at once at one version all succeed.
func swapsBlindly(meeting int32) func(f *faulty) {
	return func(f *faulty) {
		r := newRendezvous(meeting)
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			if len(value) > faultyMaxValue {
				return false, errors.New("value too large")
			}
			_, now, err := f.inner.Load(ctx, key)
			if err != nil || now != v || !r.meet() {
				return f.inner.Swap(ctx, key, v, value, ttl)
			}
			return overwrite(ctx, f.inner, key, value, ttl)
		}
	}
}

// stale remembers what was there before the last write that is over, and gives that to
// whoever reads while another write goes on.
type stale[V any] struct {
	mu     sync.Mutex
	writes int
	before map[string]V
}

// write does fn, which returns its result and what was there before it.
func (s *stale[V]) write(key string, fn func() (result, before V, err error)) (V, error) {
	s.mu.Lock()
	s.writes++
	result, before, err := fn()
	s.mu.Unlock()
	linger(func() bool { return false }) // as a slow write: others read meanwhile
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes--
	if s.before == nil {
		s.before = map[string]V{}
	}
	s.before[key] = before
	return result, err
}

func (s *stale[V]) read(key string, now V) V {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.before[key]; ok && s.writes > 0 {
		return old
	}
	return now
}

// linger lets others run for a while, or until it may go on.
func linger(until func() bool) {
	for range 50 {
		if until() {
			return
		}
		runtime.Gosched()
	}
}

// patience is how long somebody waits for others who may never come.
const patience = 300 * time.Millisecond

// rendezvous makes a race certain: of the first so many who meet, none goes on before all
// are there. Where one waited in vain, as if alone, nobody waits any more.
type rendezvous struct {
	want      int32
	met       atomic.Int32
	all, vain chan struct{}
	gaveUp    sync.Once
}

func newRendezvous(want int32) *rendezvous {
	return &rendezvous{want: want, all: make(chan struct{}), vain: make(chan struct{})}
}

// meet tells whether the caller is one of those who met.
func (r *rendezvous) meet() bool {
	select {
	case <-r.vain:
		return false
	default:
	}
	switch n := r.met.Add(1); {
	case n > r.want:
		return false
	case n == r.want:
		close(r.all)
		return true
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-r.all:
		return true
	case <-r.vain:
	case <-wait.C:
		r.gaveUp.Do(func() { close(r.vain) })
	}
	return false
}
