package memory

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weirlimits/weir/store"
)

var errKind = errors.New("memory: the key holds another kind of value")

// with runs fn on the key's entry under its shard's lock. The entry is nil where there
// is none or it expired; create returns a new one with the TTL.
func (s *Store) with(ctx context.Context, key string, want kind, ttl time.Duration,
	fn func(e *entry, create func() (*entry, error)) error,
) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if ttl != 0 {
		if err := store.CheckTTL(ttl, s.Traits().MaxTTL); err != nil {
			return err
		}
	}
	t, name := s.find(key)
	sh := t.shard(name)
	for {
		err := s.locked(sh, name, want, ttl, fn)
		if !errors.Is(err, store.ErrFull) || !s.makeRoom(nil, store.Args{}) {
			return err
		}
	}
}

func (s *Store) locked(sh *shard, name string, want kind, ttl time.Duration,
	fn func(e *entry, create func() (*entry, error)) error,
) error {
	now := s.clock()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e, live := sh.lookup(name, now)
	if live && e.kind != want {
		return errKind
	}
	create := func() (*entry, error) {
		if e == nil {
			if e = sh.insert(name, now); e == nil {
				return nil, store.ErrFull
			}
		}
		*e = entry{key: e.key, kind: want, expires: now + micros(ttl)}
		return e, nil
	}
	if !live {
		return fn(nil, create)
	}
	return fn(e, create)
}

// micros rounds up: a TTL is a floor.
func micros(ttl time.Duration) int64 {
	return int64((ttl + time.Microsecond - 1) / time.Microsecond)
}

// Add implements [store.Counter].
func (s *Store) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (n int64, err error) {
	if delta > 0 && ttl <= 0 {
		return 0, store.CheckTTL(ttl, s.Traits().MaxTTL)
	}
	err = s.with(ctx, key, kindCounter, max(ttl, 0), func(e *entry, create func() (*entry, error)) error {
		if e == nil {
			if delta <= 0 {
				return nil
			}
			if e, err = create(); err != nil {
				return err
			}
		}
		n = int64(binary.LittleEndian.Uint64(e.inline[:]))
		if delta > 0 && n > math.MaxInt64-delta {
			return fmt.Errorf("memory: add: %w", store.ErrOverflow)
		}
		n = max(n+delta, 0)
		binary.LittleEndian.PutUint64(e.inline[:], uint64(n))
		return nil
	})
	return n, err
}

// Read implements [store.Counter].
func (s *Store) Read(ctx context.Context, keys ...string) ([]int64, error) {
	counts := make([]int64, len(keys))
	for i, key := range keys {
		err := s.with(ctx, key, kindCounter, 0, func(e *entry, _ func() (*entry, error)) error {
			if e != nil {
				counts[i] = int64(binary.LittleEndian.Uint64(e.inline[:]))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// versionOf makes a version of the value itself: the same bytes are the same version.
func versionOf(value []byte) store.Version { return store.Version("v" + string(value)) }

// Load implements [store.Swapper].
func (s *Store) Load(ctx context.Context, key string) (value []byte, v store.Version, err error) {
	err = s.with(ctx, key, kindValue, 0, func(e *entry, _ func() (*entry, error)) error {
		if e != nil {
			value, v = bytes.Clone(e.value()), versionOf(e.value())
			if value == nil {
				value = []byte{}
			}
		}
		return nil
	})
	return value, v, err
}

// Swap implements [store.Swapper].
func (s *Store) Swap(ctx context.Context, key string, v store.Version, value []byte, ttl time.Duration) (done bool, err error) {
	if ttl <= 0 {
		return false, store.CheckTTL(ttl, s.Traits().MaxTTL)
	}
	err = s.with(ctx, key, kindValue, ttl, func(e *entry, create func() (*entry, error)) error {
		if e == nil && v != "" || e != nil && versionOf(e.value()) != v {
			return nil
		}
		if e, err = create(); err != nil {
			return err
		}
		e.setValue(bytes.Clone(value))
		done = true
		return nil
	})
	return done, err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	for _, key := range keys {
		t, name := s.find(key)
		sh := t.shard(name)
		sh.mu.Lock()
		if i, ok := sh.index[name]; ok {
			sh.remove(i)
		}
		sh.mu.Unlock()
	}
	return nil
}

// Size implements [store.Footprint]. It accounts: the entry, the key, its share of the
// index, and what lies beside it.
func (s *Store) Size(ctx context.Context, key string) (int64, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	t, name := s.find(key)
	sh := t.shard(name)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e, live := sh.lookup(name, s.clock())
	if !live {
		return 0, nil
	}
	return e.bytes(), nil
}

// TTL returns how long the key still lives; zero for a missing key.
func (s *Store) TTL(ctx context.Context, key string) (time.Duration, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	t, name := s.find(key)
	sh := t.shard(name)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.clock()
	e, live := sh.lookup(name, now)
	if !live {
		return 0, nil
	}
	return store.TTL(e.expires - now), nil
}

// PushFront implements [store.List].
func (s *Store) PushFront(ctx context.Context, key string, ttl time.Duration, values ...string) (n int64, err error) {
	if ttl <= 0 {
		return 0, store.CheckTTL(ttl, s.Traits().MaxTTL)
	}
	err = s.collection(ctx, key, kindList, ttl, len(values) > 0, func(x *extension) {
		x.list = append(x.list, values...)
		n = int64(len(x.list))
	})
	return n, err
}

// Trim implements [store.List].
func (s *Store) Trim(ctx context.Context, key string, start, stop int64) error {
	return s.collection(ctx, key, kindList, 0, false, func(x *extension) {
		n := len(x.list)
		from, to := span(start, stop, n)
		x.list = slices.Clone(x.list[n-to : n-from]) // newest first outside, oldest first here
	})
}

// Index implements [store.List].
func (s *Store) Index(ctx context.Context, key string, i int64) (value string, ok bool, err error) {
	err = s.collection(ctx, key, kindList, 0, false, func(x *extension) {
		n := int64(len(x.list))
		if i < 0 {
			i += n
		}
		if ok = i >= 0 && i < n; ok {
			value = x.list[n-1-i]
		}
	})
	return value, ok, err
}

// Len implements [store.List].
func (s *Store) Len(ctx context.Context, key string) (n int64, err error) {
	err = s.collection(ctx, key, kindList, 0, false, func(x *extension) { n = int64(len(x.list)) })
	return n, err
}

// collection runs fn on a list or a set under its lock, creates it first if asked,
// renews its TTL if one is given, and removes what fn left empty.
func (s *Store) collection(ctx context.Context, key string, want kind, ttl time.Duration, create bool, fn func(x *extension)) error {
	empty := false
	err := s.with(ctx, key, want, ttl, func(e *entry, make func() (*entry, error)) error {
		if e == nil {
			if !create {
				return nil
			}
			var err error
			if e, err = make(); err != nil {
				return err
			}
			e.ext = new(extension)
			if want == kindSet {
				e.ext.set = newSortedSet()
			}
		}
		fn(e.ext)
		if ttl > 0 {
			e.expires = s.clock() + micros(ttl)
		}
		empty = len(e.ext.list) == 0 && (e.ext.set == nil || len(e.ext.set.order) == 0)
		if empty {
			e.expires = 0 // gone, and swept
		}
		return nil
	})
	return err
}

// span turns inclusive positions, negative ones from the end, into a half-open range
// within n.
func span(start, stop int64, n int) (from, to int) {
	size := int64(n)
	if start < 0 {
		start += size
	}
	if stop < 0 {
		stop += size
	}
	start, stop = max(start, 0), min(stop, size-1)
	if start > stop {
		return 0, 0
	}
	return int(start), int(stop) + 1
}
