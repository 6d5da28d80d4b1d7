package memory

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weirlimits/weir/store"
)

var errKind = fmt.Errorf("memory: the key holds another kind of value: %w", store.ErrCorrupt)

// entry is one key as a primitive sees it, under its shard's lock.
type entry struct {
	*shard
	hash uint64
	key  string
	at   place // none where there is no record, not even an expired one
	live bool
	now  int64
}

func (e *entry) value() []byte         { return e.shard.value(e.shard.at(e.at)) }
func (e *entry) extension() *extension { return e.shard.extension(e.shard.at(e.at)) }

// set makes value the key's. It does not keep it.
func (e *entry) set(k kind, value []byte, ttl time.Duration) error {
	if !e.put(e.hash, e.key, e.at, k, bytes.Clone(value), e.now+micros(ttl), e.now) {
		return store.ErrFull
	}
	return nil
}

// setBeside makes x the key's.
func (e *entry) setBeside(x extension, ttl time.Duration) error {
	if !e.putBeside(e.hash, e.key, e.at, x, e.now+micros(ttl), e.now) {
		return store.ErrFull
	}
	e.at, _ = e.find(e.hash, e.key)
	return nil
}

// with runs fn on the key's entry under its shard's lock. Where the store is full it
// makes room and runs fn again, which changed nothing then.
func (s *Store) with(ctx context.Context, key string, want kind, ttl time.Duration, fn func(e *entry) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if ttl != 0 {
		if err := store.CheckTTL(ttl, s.Traits().MaxTTL); err != nil {
			return err
		}
	}
	for {
		var err error
		s.locked(key, func(e *entry) {
			if e.live && e.kindOf(e.shard.at(e.at)) != want {
				err = errKind
				return
			}
			err = fn(e)
		})
		if !errors.Is(err, store.ErrFull) || !s.makeRoom(nil, store.Args{}) {
			return err
		}
	}
}

func (s *Store) locked(full string, fn func(e *entry)) {
	t, key := s.find(full)
	hash := t.hash(key)
	e := entry{shard: t.shard(hash), hash: hash, key: key, now: s.now()}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = s.inOrder(e.shard, e.now)
	var r record
	e.at, r = e.find(hash, key)
	e.live = e.at != none && r.expires() > e.now
	fn(&e)
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
	err = s.with(ctx, key, kindCounter, max(ttl, 0), func(e *entry) error {
		if !e.live {
			if delta <= 0 {
				return nil
			}
			var count [8]byte
			binary.LittleEndian.PutUint64(count[:], uint64(delta))
			n = delta
			return e.set(kindCounter, count[:], ttl)
		}
		n = int64(binary.LittleEndian.Uint64(e.value()))
		if delta > 0 && n > math.MaxInt64-delta {
			return fmt.Errorf("memory: add: %w", store.ErrOverflow)
		}
		n = max(n+delta, 0)
		binary.LittleEndian.PutUint64(e.value(), uint64(n))
		return nil
	})
	return n, err
}

// Read implements [store.Counter].
func (s *Store) Read(ctx context.Context, keys ...string) ([]int64, error) {
	counts := make([]int64, len(keys))
	for i, key := range keys {
		err := s.with(ctx, key, kindCounter, 0, func(e *entry) error {
			if e.live {
				counts[i] = int64(binary.LittleEndian.Uint64(e.value()))
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
	err = s.with(ctx, key, kindValue, 0, func(e *entry) error {
		if e.live {
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
	err = s.with(ctx, key, kindValue, ttl, func(e *entry) error {
		if !e.live && v != "" || e.live && versionOf(e.value()) != v {
			return nil
		}
		err := e.set(kindValue, value, ttl)
		done = err == nil
		return err
	})
	return done, err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	for _, key := range keys {
		s.locked(key, func(e *entry) {
			if e.at != none {
				e.remove(e.at)
			}
		})
	}
	return nil
}

// Size implements [store.Footprint]. It accounts: the record, its share of the index, and
// what lies beside it.
func (s *Store) Size(ctx context.Context, key string) (n int64, err error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	s.locked(key, func(e *entry) {
		if e.live {
			n = e.size(e.shard.at(e.at))
		}
	})
	return n, nil
}

// TTL returns how long the key still lives; zero for a missing key.
func (s *Store) TTL(ctx context.Context, key string) (ttl time.Duration, err error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	s.locked(key, func(e *entry) {
		if e.live {
			ttl = store.TTL(e.shard.at(e.at).expires() - e.now)
		}
	})
	return ttl, nil
}
