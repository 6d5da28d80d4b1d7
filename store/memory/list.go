package memory

import (
	"context"
	"slices"
	"time"

	"github.com/weirlimits/weir/store"
)

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
	return s.with(ctx, key, want, ttl, func(e *entry) error {
		if !e.live {
			if !create {
				return nil
			}
			x := extension{kind: want}
			if want == kindSet {
				x.set = newSortedSet()
			}
			if err := e.setBeside(x, ttl); err != nil {
				return err
			}
		}
		x := e.extension()
		fn(x)
		switch {
		case len(x.list) == 0 && (x.set == nil || len(x.set.order) == 0):
			e.remove(e.at)
		case ttl > 0:
			e.shard.at(e.at).setExpires(e.now + micros(ttl))
		}
		return nil
	})
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
