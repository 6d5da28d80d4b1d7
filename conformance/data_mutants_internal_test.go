package conformance

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// dataMutants break what is more than a counter.
var dataMutants = []storeMutant{
	{"Swap does not look at the version", "swap/versions", Fail, func(f *faulty) {
		f.swap = func(ctx context.Context, key string, _ store.Version, value []byte, ttl time.Duration) (bool, error) {
			return overwrite(ctx, f, key, value, ttl)
		}
	}},
	{"the empty version overwrites", "swap/versions", Fail, func(f *faulty) {
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			if v == "" {
				return overwrite(ctx, f, key, value, ttl)
			}
			return f.inner.Swap(ctx, key, v, value, ttl)
		}
	}},
	{"Swap looks first and writes later", "swap/atomic", Fail, func(f *faulty) {
		r := newRendezvous()
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			_, now, err := f.inner.Load(ctx, key)
			if err != nil || now != v {
				return false, err
			}
			r.meet()
			return overwrite(ctx, f, key, value, ttl)
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
	{"values have no TTL", "swap/ttl", Fail, func(f *faulty) {
		f.ttl = func(time.Duration) time.Duration { return never }
	}},
	{"Swap keeps the TTL of the first value", "swap/ttl-renewed", Fail, func(f *faulty) {
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			if left, err := f.inner.TTL(ctx, key); err == nil && left > 0 {
				ttl = left
			}
			return f.inner.Swap(ctx, key, v, value, ttl)
		}
	}},

	{"loses concurrent pushes", "list/atomic", Fail, func(f *faulty) {
		r := newRendezvous()
		f.push = func(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
			n, err := f.inner.Len(ctx, key)
			if err != nil {
				return 0, err
			}
			r.meet()
			_, err = f.inner.PushFront(ctx, key, ttl, values...)
			return n + int64(len(values)), err
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
	{"tells every caller that its member is new", "sorted-set/atomic", Fail, func(f *faulty) {
		f.members = func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
			_, err := f.inner.AddMembers(ctx, key, ttl, members...)
			return int64(len(members)), err
		}
	}},
	{"sorted sets have no TTL", "sorted-set/ttl", Fail, func(f *faulty) {
		f.ttl = func(time.Duration) time.Duration { return never }
	}},

	{"runs a step between a read and a write", "script/atomic", Fail, func(f *faulty) {
		r := newRendezvous()
		f.prepare = func(step *store.Step, space string) (store.Runner, error) {
			return runnerFunc(func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
				state, _, err := f.inner.Load(ctx, space+key)
				if err != nil {
					return store.Reply{}, err
				}
				r.meet()
				res := step.Func(state, args)
				if res.State != nil {
					_, err = overwrite(ctx, f, space+key, res.State, store.TTL(res.TTL))
				}
				return res.Reply, err
			}), nil
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
	{"what a step does not recognise is allowed", "script/corrupt", Fail, wreckRun(func(_ *faulty, _ string, run runnerFunc) runnerFunc {
		return func(ctx context.Context, key string, args store.Args) (store.Reply, error) {
			reply, err := run(ctx, key, args)
			if errors.Is(err, store.ErrCorrupt) {
				return store.Reply{Allowed: true}, nil
			}
			return reply, err
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
	{"a peek renews the TTL", "script/ttl-kept", Fail, wreckRun(func(f *faulty, space string, run runnerFunc) runnerFunc {
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
		f.size = func(context.Context, string) (int64, error) { return 64, nil }
	}},
	{"a missing key is said to occupy its name", "footprint/missing", Fail, func(f *faulty) {
		f.size = func(_ context.Context, key string) (int64, error) { return int64(len(key)), nil }
	}},
}
