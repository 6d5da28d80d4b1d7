package conformance

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// faulty is the memory store with faults: a method whose fault is nil does what the inner
// store does. It has every capability.
type faulty struct {
	inner *memory.Store

	traits   func(t *store.Traits)
	key      func(kind store.Capability, key string) string
	ttl      func(kind store.Capability, ttl time.Duration) time.Duration
	delete   func(ctx context.Context, keys ...string) error
	shut     func() error
	read     func(ctx context.Context, keys ...string) ([]int64, error)
	add      func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error)
	load     func(ctx context.Context, key string) ([]byte, store.Version, error)
	swap     func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error)
	push     func(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error)
	trim     func(ctx context.Context, key string, start, stop int64) error
	members  func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error)
	removeTo func(ctx context.Context, key string, most int64) (int64, error)
	prepare  func(step *store.Step, space string) (store.Runner, error)
	now      func(ctx context.Context) (time.Time, error)
	size     func(ctx context.Context, key string) (int64, error)
}

var (
	_ store.Counter   = (*faulty)(nil)
	_ store.Swapper   = (*faulty)(nil)
	_ store.List      = (*faulty)(nil)
	_ store.SortedSet = (*faulty)(nil)
	_ store.Scripter  = (*faulty)(nil)
	_ store.Clock     = (*faulty)(nil)
	_ store.Footprint = (*faulty)(nil)
)

// faultyMaxValue keeps the largest value small, as it is tried often.
const faultyMaxValue = 64 << 10

func (f *faulty) Traits() store.Traits {
	t := f.inner.Traits()
	t.MaxValue = faultyMaxValue
	if f.traits != nil {
		f.traits(&t)
	}
	return t
}

func (f *faulty) named(kind store.Capability, key string) string {
	if f.key != nil {
		return f.key(kind, key)
	}
	return key
}

func (f *faulty) lasting(kind store.Capability, ttl time.Duration) time.Duration {
	if f.ttl != nil && ttl > 0 {
		return f.ttl(kind, ttl)
	}
	return ttl
}

func (f *faulty) Delete(ctx context.Context, keys ...string) error {
	if f.delete != nil {
		return f.delete(ctx, keys...)
	}
	return f.inner.Delete(ctx, keys...)
}

func (f *faulty) Close() error {
	if f.shut != nil {
		return f.shut()
	}
	return f.inner.Close()
}

func (f *faulty) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
	if f.add != nil {
		return f.add(ctx, key, delta, ttl)
	}
	return f.inner.Add(ctx, f.named(store.CapCounter, key), delta, f.lasting(store.CapCounter, ttl))
}

func (f *faulty) Read(ctx context.Context, keys ...string) ([]int64, error) {
	if f.read != nil {
		return f.read(ctx, keys...)
	}
	named := make([]string, len(keys))
	for i, key := range keys {
		named[i] = f.named(store.CapCounter, key)
	}
	return f.inner.Read(ctx, named...)
}

func (f *faulty) Load(ctx context.Context, key string) ([]byte, store.Version, error) {
	if f.load != nil {
		return f.load(ctx, key)
	}
	return f.inner.Load(ctx, f.named(store.CapSwap, key))
}

func (f *faulty) Swap(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
	if f.swap != nil {
		return f.swap(ctx, key, v, value, ttl)
	}
	if len(value) > faultyMaxValue {
		return false, errors.New("value too large")
	}
	return f.inner.Swap(ctx, f.named(store.CapSwap, key), v, value, f.lasting(store.CapSwap, ttl))
}

func (f *faulty) PushFront(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
	if f.push != nil {
		return f.push(ctx, key, ttl, values...)
	}
	return f.inner.PushFront(ctx, f.named(store.CapList, key), f.lasting(store.CapList, ttl), values...)
}

func (f *faulty) Trim(ctx context.Context, key string, start, stop int64) error {
	if f.trim != nil {
		return f.trim(ctx, key, start, stop)
	}
	return f.inner.Trim(ctx, key, start, stop)
}

func (f *faulty) Index(ctx context.Context, key string, i int64) (string, bool, error) {
	return f.inner.Index(ctx, f.named(store.CapList, key), i)
}

func (f *faulty) Len(ctx context.Context, key string) (int64, error) { return f.inner.Len(ctx, key) }

func (f *faulty) AddMembers(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
	if f.members != nil {
		return f.members(ctx, key, ttl, members...)
	}
	return f.inner.AddMembers(ctx, f.named(store.CapSortedSet, key), f.lasting(store.CapSortedSet, ttl), members...)
}

func (f *faulty) RemoveUpTo(ctx context.Context, key string, most int64) (int64, error) {
	if f.removeTo != nil {
		return f.removeTo(ctx, key, most)
	}
	return f.inner.RemoveUpTo(ctx, key, most)
}

func (f *faulty) Card(ctx context.Context, key string) (int64, error) { return f.inner.Card(ctx, key) }

func (f *faulty) Range(ctx context.Context, key string, start, stop int64) ([]store.Member, error) {
	return f.inner.Range(ctx, f.named(store.CapSortedSet, key), start, stop)
}

func (f *faulty) Prepare(step *store.Step, space string) (store.Runner, error) {
	if f.prepare != nil {
		return f.prepare(step, space)
	}
	return f.inner.Prepare(step, space)
}

func (f *faulty) Now(ctx context.Context) (time.Time, error) {
	if f.now != nil {
		return f.now(ctx)
	}
	return f.inner.Now(ctx)
}

func (f *faulty) Size(ctx context.Context, key string) (int64, error) {
	if f.size != nil {
		return f.size(ctx, key)
	}
	return f.inner.Size(ctx, key)
}

// runnerFunc is a runner made of a function.
type runnerFunc func(ctx context.Context, key string, args store.Args) (store.Reply, error)

func (r runnerFunc) Run(ctx context.Context, key string, args store.Args) (store.Reply, error) {
	return r(ctx, key, args)
}

// simulatedTime is a time that passes at once.
type simulatedTime struct{ us atomic.Int64 }

func newSimulatedTime() *simulatedTime {
	t := new(simulatedTime)
	t.us.Store(epoch)
	return t
}

func (t *simulatedTime) Now() time.Time { return time.UnixMicro(t.us.Load()) }

func (t *simulatedTime) Sleep(ctx context.Context, d time.Duration) error {
	t.us.Add(d.Microseconds())
	return ctx.Err()
}
