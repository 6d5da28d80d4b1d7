package conformance

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
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

// counterMutants break a store's traits, what holds for every method, or its counter.
var counterMutants = []storeMutant{
	{"claims a capability that no interface stands for", "traits/declared", Fail, func(f *faulty) {
		f.traits = func(t *store.Traits) { t.Capabilities |= 1 << 12 }
	}},
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
	{"cuts keys at 30000 bytes", "traits/longest-key", OverClaimed, func(f *faulty) {
		f.key = func(_ store.Capability, key string) string { return key[:min(len(key), 30_000)] }
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
			return int64(float64(n)), err
		}
	}},
	{"takes a TTL above 30 days for a date in 1970", "traits/longest-ttl", OverClaimed, func(f *faulty) {
		f.ttl = func(_ store.Capability, ttl time.Duration) time.Duration {
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
		f.ttl = func(_ store.Capability, ttl time.Duration) time.Duration { return min(ttl, f.inner.Traits().MaxTTL) }
	}},
	{"Delete does not know lists", "store/delete", Fail, func(f *faulty) {
		f.delete = func(ctx context.Context, keys ...string) error {
			return f.inner.Delete(ctx, slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
				n, err := f.inner.Len(ctx, key)
				return err == nil && n > 0
			})...)
		}
	}},
	{"refuses to delete nothing", "store/delete", Fail, func(f *faulty) {
		f.delete = func(ctx context.Context, keys ...string) error {
			if len(keys) == 0 {
				return errors.New("wrong number of arguments")
			}
			return f.inner.Delete(ctx, keys...)
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
		f.read = func(ctx context.Context, keys ...string) ([]int64, error) {
			keys = slices.Sorted(slices.Values(keys))
			return f.inner.Read(ctx, keys...)
		}
	}},
	{"reads a key that comes twice once", "counter/count", Fail, func(f *faulty) {
		f.read = func(ctx context.Context, keys ...string) ([]int64, error) {
			counts, err := f.inner.Read(ctx, keys...)
			for i := range counts {
				if slices.Contains(keys[:i], keys[i]) {
					counts[i] = 0
				}
			}
			return counts, err
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
	{"counters have no TTL", "counter/ttl", Fail, ttlOf(store.CapCounter, func(time.Duration) time.Duration { return never })},
	{"drops after a second what was counted once", "counter/ttl", Fail, dropsCold},
	{"cuts a TTL to whole seconds", "counter/ttl", Fail, ttlOf(store.CapCounter, func(ttl time.Duration) time.Duration {
		return max(ttl.Truncate(time.Second), time.Second)
	})},
	{"keeps keys for seconds beyond its grain", "counter/ttl", OverClaimed, ttlOf(store.CapCounter, func(ttl time.Duration) time.Duration {
		return ttl + 4*time.Second
	})},
	{"renews a counter's TTL", "counter/ttl-kept", Fail, renewsCounters},
	{"cuts a counter's key at 250 bytes", "counter/keys", Fail, keyOf(store.CapCounter, func(key string) string { return key[:min(len(key), 250)] })},
	{"trims blanks off a counter's key", "counter/keys", Fail, keyOf(store.CapCounter, strings.TrimSpace)},
	{"ends a counter's key at a NUL", "counter/keys", Fail, keyOf(store.CapCounter, func(key string) string {
		key, _, _ = strings.Cut(key, "\x00")
		return key
	})},
	{"reads only what stands in a key's braces", "counter/keys", Fail, keyOf(store.CapCounter, hashed)},
}

// ttlOf changes the TTL of one kind of key.
func ttlOf(kind store.Capability, change func(time.Duration) time.Duration) func(f *faulty) {
	return func(f *faulty) {
		f.ttl = func(k store.Capability, ttl time.Duration) time.Duration {
			if k == kind && ttl <= f.inner.Traits().MaxTTL {
				return change(ttl)
			}
			return ttl
		}
	}
}

// keyOf changes the name of one kind of key.
func keyOf(kind store.Capability, change func(string) string) func(f *faulty) {
	return func(f *faulty) {
		f.key = func(k store.Capability, key string) string {
			if k == kind {
				return change(key)
			}
			return key
		}
	}
}

// dropsCold gives a counter its whole TTL when it is added to again.
func dropsCold(f *faulty) {
	var mu sync.Mutex
	cold := map[string]time.Duration{}
	f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		left, _ := f.inner.TTL(ctx, key)
		if left <= 0 && ttl > time.Second && ttl <= f.inner.Traits().MaxTTL {
			cold[key], ttl = ttl, time.Second
			return f.inner.Add(ctx, key, delta, ttl)
		}
		n, err := f.inner.Add(ctx, key, delta, ttl)
		if whole, ok := cold[key]; ok && err == nil && n > 0 {
			delete(cold, key)
			err = errors.Join(f.inner.Delete(ctx, key), add(ctx, f, key, n, whole-(time.Second-left)))
		}
		return n, err
	}
}

func add(ctx context.Context, f *faulty, key string, delta int64, ttl time.Duration) error {
	_, err := f.inner.Add(ctx, key, delta, ttl)
	return err
}

// overwrite stores whatever was there before.
func overwrite(ctx context.Context, st store.Swapper, key string, value []byte, ttl time.Duration) (bool, error) {
	for {
		_, v, err := st.Load(ctx, key)
		if err != nil {
			return false, err
		}
		if done, err := st.Swap(ctx, key, v, value, ttl); done || err != nil {
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

// renewsCounters writes a counter anew, with the TTL of the last addition.
func renewsCounters(f *faulty) {
	var mu sync.Mutex
	f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		n, err := f.inner.Add(ctx, key, delta, ttl)
		if err == nil && n > 0 {
			err = errors.Join(f.inner.Delete(ctx, key), add(ctx, f, key, n, ttl))
		}
		return n, err
	}
	f.read = func(ctx context.Context, keys ...string) ([]int64, error) {
		mu.Lock()
		defer mu.Unlock()
		return f.inner.Read(ctx, keys...)
	}
	f.delete = func(ctx context.Context, keys ...string) error {
		mu.Lock()
		defer mu.Unlock()
		return f.inner.Delete(ctx, keys...)
	}
}
