package conformance

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// storeMutant breaks a store in one way.
type storeMutant struct {
	name  string
	check string // the one meant for it
	want  Status
	wreck func(f *faulty)
}

// never is a TTL that no check waits for.
const never = 1000 * time.Hour

var storeMutants = []storeMutant{
	{"implements lists and does not say so", "traits/implemented", Fail, func(f *faulty) {
		f.traits = func(t *store.Traits) { t.Capabilities &^= store.CapList }
	}},
	{"says nothing of its TTL grain", "traits/complete", Fail, func(f *faulty) {
		f.traits = func(t *store.Traits) { t.TTLGrain = 0 }
	}},
	{"claims keys of 1000 bytes and refuses those above 250", "traits/longest-key", OverClaimed, func(f *faulty) {
		f.traits = func(t *store.Traits) { t.MaxKey = 1000 }
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			if len(key) > 250 {
				return 0, errors.New("key too long")
			}
			return f.inner.Add(ctx, key, delta, ttl)
		}
	}},
	{"claims values of 1 MiB and cuts them at 1000 bytes", "traits/largest-value", OverClaimed, func(f *faulty) {
		f.traits = func(t *store.Traits) { t.MaxValue = 1 << 20 }
		f.swap = func(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (bool, error) {
			return f.inner.Swap(ctx, key, v, value[:min(len(value), 1000)], ttl)
		}
	}},
	{"takes values above its largest", "traits/largest-value", Fail, func(f *faulty) {
		f.traits = func(t *store.Traits) { t.MaxValue = 1 << 10 }
	}},
	{"counts in floating point", "traits/largest-count", OverClaimed, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			n, err := f.inner.Add(ctx, key, delta, ttl)
			return int64(math.Float64frombits(math.Float64bits(float64(n>>1)))) << 1, err
		}
	}},
	{"takes a TTL above 30 days for a date in 1970", "traits/longest-ttl", OverClaimed, func(f *faulty) {
		f.ttl = func(ttl time.Duration) time.Duration {
			if ttl > 30*24*time.Hour {
				return time.Nanosecond
			}
			return ttl
		}
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			n, err := f.inner.Add(ctx, key, delta, ttl)
			if ttl > 30*24*time.Hour {
				err = errors.Join(err, f.inner.Delete(ctx, key))
			}
			return n, err
		}
	}},
	{"cuts a TTL above its longest down without a word", "traits/longest-ttl", Fail, func(f *faulty) {
		f.ttl = func(ttl time.Duration) time.Duration { return min(ttl, f.inner.Traits().MaxTTL) }
	}},
	{"Delete does not know lists", "store/delete", Fail, func(f *faulty) {
		f.delete = func(ctx context.Context, keys ...string) error {
			return f.inner.Delete(ctx, slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
				n, err := f.inner.Len(ctx, key)
				return err == nil && n > 0
			})...)
		}
	}},
	{"Add does not look at its context", "store/cancelled", Fail, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			return f.inner.Add(context.WithoutCancel(ctx), key, delta, ttl)
		}
	}},
	{"Add gives the context's error and adds all the same", "store/cancelled", Fail, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			n, err := f.inner.Add(context.WithoutCancel(ctx), key, delta, ttl)
			return n, errors.Join(err, ctx.Err())
		}
	}},
	{"goes on after Close", "store/closed", Fail, func(f *faulty) {
		f.shut = func() error { return nil }
	}},

	{"loses updates of the counter", "counter/atomic", Fail, func(f *faulty) {
		r := newRendezvous()
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			old, err := f.inner.Read(ctx, key)
			if err != nil {
				return 0, err
			}
			r.meet()
			return old[0] + delta, errors.Join(f.inner.Delete(ctx, key), add(ctx, f, key, old[0]+delta, ttl))
		}
	}},
	{"counts below zero", "counter/count", Fail, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			old, err := f.inner.Read(ctx, key)
			if err != nil {
				return 0, err
			}
			_, err = f.inner.Add(ctx, key, delta, ttl)
			return old[0] + delta, err
		}
	}},
	{"reads keys in an order of its own", "counter/count", Fail, func(f *faulty) {
		f.key = func(key string) string { return strings.NewReplacer("0", "1", "1", "0").Replace(key) }
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			return f.inner.Add(ctx, key, delta, ttl)
		}
	}},
	{"wraps around at 64 bits", "counter/overflow", Fail, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			n, err := f.inner.Add(ctx, key, delta, ttl)
			if errors.Is(err, store.ErrOverflow) {
				return math.MinInt64, f.inner.Delete(ctx, key)
			}
			return n, err
		}
	}},
	{"refuses an overflow after having added", "counter/overflow", Fail, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			n, err := f.inner.Add(ctx, key, delta, ttl)
			if errors.Is(err, store.ErrOverflow) {
				err = errors.Join(err, add(ctx, f, key, 1, ttl))
			}
			return n, err
		}
	}},
	{"counters have no TTL", "counter/ttl", Fail, func(f *faulty) {
		f.ttl = func(time.Duration) time.Duration { return never }
	}},
	{"cuts a TTL to whole seconds", "counter/ttl", Fail, func(f *faulty) {
		f.ttl = func(ttl time.Duration) time.Duration { return max(ttl.Truncate(time.Second), time.Second) }
	}},
	{"keeps keys for seconds beyond its grain", "counter/ttl", OverClaimed, func(f *faulty) {
		f.ttl = func(ttl time.Duration) time.Duration { return ttl + 4*time.Second }
	}},
	{"renews a counter's TTL", "counter/ttl-kept", Fail, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			old, err := f.inner.Read(ctx, key)
			if err == nil && old[0] > 0 {
				err = f.inner.Delete(ctx, key)
			}
			if err != nil {
				return 0, err
			}
			return f.inner.Add(ctx, key, old[0]+delta, ttl)
		}
	}},
	{"cuts keys at 250 bytes", "counter/keys", Fail, func(f *faulty) {
		f.key = func(key string) string { return key[:min(len(key), 250)] }
	}},
	{"trims blanks off keys", "counter/keys", Fail, func(f *faulty) { f.key = strings.TrimSpace }},
	{"ends keys at a NUL", "counter/keys", Fail, func(f *faulty) {
		f.key = func(key string) string { key, _, _ = strings.Cut(key, "\x00"); return key }
	}},
	{"reads only what stands in braces", "counter/keys", Fail, func(f *faulty) { f.key = hashed }},

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

func add(ctx context.Context, f *faulty, key string, delta int64, ttl time.Duration) error {
	_, err := f.inner.Add(ctx, key, delta, ttl)
	return err
}

// overwrite stores whatever was there before.
func overwrite(ctx context.Context, f *faulty, key string, value []byte, ttl time.Duration) (bool, error) {
	for {
		_, v, err := f.inner.Load(ctx, key)
		if err != nil {
			return false, err
		}
		if done, err := f.inner.Swap(ctx, key, v, value, ttl); done || err != nil {
			return done, err
		}
	}
}

// wreckRun puts a fault around every runner.
func wreckRun(around func(f *faulty, space string, run runnerFunc) runnerFunc) func(f *faulty) {
	return func(f *faulty) {
		f.prepare = func(step *store.Step, space string) (store.Runner, error) {
			r, err := f.inner.Prepare(step, space)
			if err != nil {
				return nil, err
			}
			return around(f, space, r.Run), nil
		}
	}
}
