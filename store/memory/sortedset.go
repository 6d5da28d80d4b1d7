package memory

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unsafe"

	"github.com/weirlimits/weir/store"
)

// sortedSet is a slice in order and a map of scores by name.
type sortedSet struct {
	order  []store.Member
	scores map[string]int64
}

func newSortedSet() *sortedSet { return &sortedSet{scores: map[string]int64{}} }

func compareMembers(a, b store.Member) int {
	return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.Name, b.Name))
}

// put adds the member or moves it, and tells whether it was new.
func (z *sortedSet) put(m store.Member) bool {
	old, had := z.scores[m.Name]
	if had {
		i, _ := slices.BinarySearchFunc(z.order, store.Member{Score: old, Name: m.Name}, compareMembers)
		z.order = slices.Delete(z.order, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(z.order, m, compareMembers)
	z.order = slices.Insert(z.order, i, m)
	z.scores[m.Name] = m.Score
	return !had
}

func (z *sortedSet) removeUpTo(most int64) int64 {
	n, _ := slices.BinarySearchFunc(z.order, most, func(m store.Member, most int64) int {
		if m.Score <= most {
			return -1
		}
		return 1
	})
	for _, m := range z.order[:n] {
		delete(z.scores, m.Name)
	}
	z.order = slices.Delete(z.order, 0, n)
	return int64(n)
}

func (z *sortedSet) bytes() int64 {
	n := int64(0)
	for _, m := range z.order {
		n += 2*int64(unsafe.Sizeof(m)) + int64(len(m.Name))
	}
	return n
}

// AddMembers implements [store.SortedSet].
func (s *Store) AddMembers(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (added int64, err error) {
	if ttl <= 0 {
		return 0, store.CheckTTL(ttl, s.Traits().MaxTTL)
	}
	err = s.collection(ctx, key, kindSet, ttl, len(members) > 0, func(x *extension) {
		for _, m := range members {
			if x.set.put(m) {
				added++
			}
		}
	})
	return added, err
}

// RemoveUpTo implements [store.SortedSet].
func (s *Store) RemoveUpTo(ctx context.Context, key string, most int64) (n int64, err error) {
	err = s.collection(ctx, key, kindSet, 0, false, func(x *extension) { n = x.set.removeUpTo(most) })
	return n, err
}

// Card implements [store.SortedSet].
func (s *Store) Card(ctx context.Context, key string) (n int64, err error) {
	err = s.collection(ctx, key, kindSet, 0, false, func(x *extension) { n = int64(len(x.set.order)) })
	return n, err
}

// Range implements [store.SortedSet].
func (s *Store) Range(ctx context.Context, key string, start, stop int64) (members []store.Member, err error) {
	err = s.collection(ctx, key, kindSet, 0, false, func(x *extension) {
		from, to := span(start, stop, len(x.set.order))
		members = slices.Clone(x.set.order[from:to])
	})
	return members, err
}
