package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// dataMutants break what is more than a counter.
var dataMutants = []storeMutant{
	{"Swap does not look at the version", "swap/versions", Fail, func(f *faulty) {
		f.swap = func(ctx context.Context, key string, _ store.Version, value []byte, ttl time.Duration) (bool, error) {
			return overwrite(ctx, f.inner, key, value, ttl)
		}
	}},
	{"the empty version overwrites", "swap/versions", Fail, func(f *faulty) {
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			if v == "" {
				return overwrite(ctx, f.inner, key, value, ttl)
			}
			return f.inner.Swap(ctx, key, v, value, ttl)
		}
	}},
	{"an empty value is a missing key", "swap/values", Fail, func(f *faulty) {
		f.load = func(ctx context.Context, key string) ([]byte, store.Version, error) {
			value, v, err := f.inner.Load(ctx, key)
			if len(value) == 0 {
				return nil, "", err
			}
			return value, v, err
		}
	}},
	{"keeps the caller's slice", "swap/values", Fail, func(f *faulty) {
		var mu sync.Mutex
		kept := map[string][]byte{}
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			if len(value) > faultyMaxValue {
				return false, errors.New("value too large")
			}
			kept[key] = value
			return f.inner.Swap(ctx, key, v, value, ttl)
		}
		f.load = func(ctx context.Context, key string) ([]byte, store.Version, error) {
			mu.Lock()
			defer mu.Unlock()
			_, v, err := f.inner.Load(ctx, key)
			return kept[key], v, err
		}
	}},
	{"a deleted value that had been swapped leaves its version behind", "swap/versions", Fail, leavesTombs},
	{"trims blanks off a value's key", "swap/keys", Fail, keyOf(store.CapSwap, strings.TrimSpace)},
	{"values have no TTL", "swap/ttl", Fail, ttlOf(store.CapSwap, func(time.Duration) time.Duration { return never })},
	{"a new value has no TTL", "swap/ttl", Fail, func(f *faulty) {
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			if len(value) > faultyMaxValue {
				return false, errors.New("value too large")
			}
			if v == "" && ttl > 0 && ttl <= f.inner.Traits().MaxTTL {
				ttl = never
			}
			return f.inner.Swap(ctx, key, v, value, ttl)
		}
	}},
	{"Swap keeps the TTL of the first value", "swap/ttl-renewed", Fail, func(f *faulty) {
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			if len(value) > faultyMaxValue {
				return false, errors.New("value too large")
			}
			if left, err := f.inner.TTL(ctx, key); err == nil && left > 0 {
				ttl = left
			}
			return f.inner.Swap(ctx, key, v, value, ttl)
		}
	}},

	{"pushes several values the wrong way round", "list/order", Fail, func(f *faulty) {
		f.push = func(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
			values = slices.Clone(values)
			slices.Reverse(values)
			return f.inner.PushFront(ctx, key, ttl, values...)
		}
	}},
	{"Trim leaves the last element out", "list/order", Fail, func(f *faulty) {
		f.trim = func(ctx context.Context, key string, start, stop int64) error {
			return f.inner.Trim(ctx, key, start, stop-1)
		}
	}},
	{"trims blanks off a list's key", "list/keys", Fail, keyOf(store.CapList, strings.TrimSpace)},
	{"a list's first push sets no TTL", "list/ttl", Fail, func(f *faulty) {
		f.push = func(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
			if n, err := f.inner.Len(ctx, key); err == nil && n == 0 {
				ttl = never
			}
			return f.inner.PushFront(ctx, key, ttl, values...)
		}
	}},
	{"a push keeps the list's first TTL", "list/ttl-renewed", Fail, func(f *faulty) {
		f.push = func(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
			if left, err := f.inner.TTL(ctx, key); err == nil && left > 0 {
				ttl = left
			}
			return f.inner.PushFront(ctx, key, ttl, values...)
		}
	}},
	{"removes scores below, not up to", "sorted-set/order", Fail, func(f *faulty) {
		f.removeTo = func(ctx context.Context, key string, most int64) (int64, error) {
			return f.inner.RemoveUpTo(ctx, key, most-1)
		}
	}},
	{"rounds scores to 52 bits", "sorted-set/order", Fail, func(f *faulty) {
		f.members = func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
			members = slices.Clone(members)
			for i := range members {
				members[i].Score &^= 1
			}
			return f.inner.AddMembers(ctx, key, ttl, members...)
		}
	}},
	{"tells of every member that it is new", "sorted-set/order", Fail, func(f *faulty) {
		f.members = func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
			_, err := f.inner.AddMembers(ctx, key, ttl, members...)
			return int64(len(members)), err
		}
	}},
	{"trims blanks off a sorted set's key", "sorted-set/keys", Fail, keyOf(store.CapSortedSet, strings.TrimSpace)},
	{"sorted sets have no TTL", "sorted-set/ttl", Fail, ttlOf(store.CapSortedSet, func(time.Duration) time.Duration { return never })},
	{"a sorted set's first member sets no TTL", "sorted-set/ttl", Fail, func(f *faulty) {
		f.members = func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
			if n, err := f.inner.Card(ctx, key); err == nil && n == 0 {
				ttl = never
			}
			return f.inner.AddMembers(ctx, key, ttl, members...)
		}
	}},
	{"a sorted set keeps its first TTL", "sorted-set/ttl-renewed", Fail, func(f *faulty) {
		f.members = func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
			if left, err := f.inner.TTL(ctx, key); err == nil && left > 0 {
				ttl = left
			}
			return f.inner.AddMembers(ctx, key, ttl, members...)
		}
	}},

	{"a peek writes", "script/unchanged", Fail, wreckRun(func(f *faulty, space string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			reply, err := run(ctx, key, args)
			if err == nil && args.Cost == 0 {
				_, err = f.inner.Swap(ctx, space+key, "", []byte("s0"), time.Minute)
			}
			return reply, err
		}
	})},
	{"a step takes the caller's time for the store's", "script/time", Fail, wreckRun(func(_ *faulty, _ string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			args.OwnTime = false
			return run(ctx, key, args)
		}
	})},
	{"a step sees the store's time a second late", "script/time", Fail, wreckRun(func(_ *faulty, _ string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			reply, err := run(ctx, key, args)
			if args.OwnTime {
				reply.ResetAfter -= 1_000_000 // the step tells its time there
			}
			return reply, err
		}
	})},
	{"what a step does not recognise is allowed", "script/corrupt", Fail, wreckRun(func(_ *faulty, _ string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			reply, err := run(ctx, key, args)
			if errors.Is(err, store.ErrCorrupt) {
				return store.Reply{Allowed: true}, nil
			}
			return reply, err
		}
	})},
	{"cuts a step's cost to 32 bits", "script/step", Fail, wreckRun(func(_ *faulty, _ string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			args.Cost = int64(int32(args.Cost))
			return run(ctx, key, args)
		}
	})},
	{"a garbled reply is allowed", "script/step", Fail, wreckRun(func(_ *faulty, _ string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			reply, err := run(ctx, key, args)
			reply.Remaining, reply.ResetAfter = reply.ResetAfter, reply.Remaining
			return reply, err
		}
	})},
	{"loses the space's prefix", "script/names", Fail, func(f *faulty) {
		f.prepare = func(step *store.Step, _ string) (store.Runner, error) { return f.inner.Prepare(step, "lost/") }
	}},
	{"all spaces are one", "script/keys", Fail, func(f *faulty) {
		f.prepare = func(step *store.Step, _ string) (store.Runner, error) { return f.inner.Prepare(step, "lost/") }
	}},
	{"a step undoes a Delete", "script/names", Fail, undoesDelete},
	{"trims blanks off a state's key", "script/keys", Fail, wreckRun(func(_ *faulty, _ string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			return run(ctx, strings.TrimSpace(key), args)
		}
	})},
	{"a step's first state has no TTL", "script/ttl", Fail, wreckRun(func(f *faulty, space string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			_, before, _ := f.inner.Load(ctx, space+key)
			reply, err := run(ctx, key, args)
			if value, v, _ := f.inner.Load(ctx, space+key); before == "" && v != "" {
				_, _ = f.inner.Swap(ctx, space+key, v, value, never)
			}
			return reply, err
		}
	})},
	{"a state keeps its first TTL", "script/ttl-renewed", Fail, wreckRun(func(f *faulty, space string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			left, _ := f.inner.TTL(ctx, space+key)
			reply, err := run(ctx, key, args)
			if value, v, _ := f.inner.Load(ctx, space+key); left > 0 && v != "" {
				_, _ = f.inner.Swap(ctx, space+key, v, value, left)
			}
			return reply, err
		}
	})},
	{"a peek renews the TTL", "script/ttl", Fail, wreckRun(func(f *faulty, space string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			reply, err := run(ctx, key, args)
			if value, v, _ := f.inner.Load(ctx, space+key); err == nil && v != "" {
				_, err = f.inner.Swap(ctx, space+key, v, value, time.Hour)
			}
			return reply, err
		}
	})},
	{"the clock steps back", "clock/forward", Fail, func(f *faulty) {
		var asked atomic.Int64
		f.now = func(ctx context.Context) (time.Time, error) {
			now, err := f.inner.Now(ctx)
			if asked.Add(1)%100 == 0 {
				now = now.Add(-time.Second)
			}
			return now, err
		}
	}},
	{"every key is said to occupy 64 bytes", "footprint/grows", Fail, func(f *faulty) {
		f.size = func(ctx context.Context, key string) (int64, error) {
			n, err := f.inner.Size(ctx, key)
			return min(n, 64), err
		}
	}},
	{"a missing key is said to occupy less than nothing", "footprint/missing", Fail, func(f *faulty) {
		f.size = func(ctx context.Context, key string) (int64, error) {
			n, err := f.inner.Size(ctx, key)
			if n == 0 {
				n = -1
			}
			return n, err
		}
	}},
	{"a missing key is said to occupy its name", "footprint/missing", Fail, func(f *faulty) {
		f.size = func(_ context.Context, key string) (int64, error) { return int64(len(key)), nil }
	}},
}

// leavesTombs leaves a version where a value that had been swapped is deleted. A Swap at it
// creates, so that only Load tells.
func leavesTombs(f *faulty) {
	const tomb = store.Version("tomb")
	var mu sync.Mutex
	swapped, tombs := map[string]bool{}, map[string]bool{}
	f.load = func(ctx context.Context, key string) ([]byte, store.Version, error) {
		mu.Lock()
		defer mu.Unlock()
		value, v, err := f.inner.Load(ctx, key)
		if v == "" && tombs[key] {
			v = tomb
		}
		return value, v, err
	}
	f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(value) > faultyMaxValue {
			return false, errors.New("value too large")
		}
		if v == tomb {
			v = ""
		}
		done, err := f.inner.Swap(ctx, key, v, value, ttl)
		if done {
			swapped[key] = v != ""
		}
		return done, err
	}
	f.delete = func(ctx context.Context, keys ...string) error {
		mu.Lock()
		defer mu.Unlock()
		for _, key := range keys {
			tombs[key] = swapped[key]
		}
		return f.inner.Delete(ctx, keys...)
	}
}

// undoesDelete lets a step go on with the state that was deleted.
func undoesDelete(f *faulty) {
	var mu sync.Mutex
	deleted := map[string][]byte{}
	f.delete = func(ctx context.Context, keys ...string) error {
		mu.Lock()
		defer mu.Unlock()
		for _, key := range keys {
			if value, v, err := f.inner.Load(ctx, key); err == nil && v != "" {
				deleted[key] = value
			}
		}
		return f.inner.Delete(ctx, keys...)
	}
	wreckRun(func(f *faulty, space string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			mu.Lock()
			value := deleted[space+key]
			delete(deleted, space+key)
			mu.Unlock()
			if value != nil {
				_, _ = f.inner.Swap(ctx, space+key, "", value, time.Hour)
			}
			return run(ctx, key, args)
		}
	})(f)
}
