package racy_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/racy"
	"github.com/weirlimits/weir/store"
)

type countedSet struct {
	store.SortedSet
	trips *int
}

func (c countedSet) Traits() store.Traits { return only(c.SortedSet, store.CapSortedSet) }

func (c countedSet) AddMembers(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
	*c.trips++
	return c.SortedSet.AddMembers(ctx, key, ttl, members...)
}

func (c countedSet) RemoveUpTo(ctx context.Context, key string, most int64) (int64, error) {
	*c.trips++
	return c.SortedSet.RemoveUpTo(ctx, key, most)
}

func (c countedSet) Card(ctx context.Context, key string) (int64, error) {
	*c.trips++
	return c.SortedSet.Card(ctx, key)
}

func (c countedSet) Range(ctx context.Context, key string, start, stop int64) ([]store.Member, error) {
	*c.trips++
	return c.SortedSet.Range(ctx, key, start, stop)
}

type countedList struct {
	store.List
	trips *int
}

func (c countedList) Traits() store.Traits { return only(c.List, store.CapList) }

func (c countedList) PushFront(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
	*c.trips++
	return c.List.PushFront(ctx, key, ttl, values...)
}

func (c countedList) Trim(ctx context.Context, key string, start, stop int64) error {
	*c.trips++
	return c.List.Trim(ctx, key, start, stop)
}

func (c countedList) Index(ctx context.Context, key string, i int64) (string, bool, error) {
	*c.trips++
	return c.List.Index(ctx, key, i)
}

func (c countedList) Len(ctx context.Context, key string) (int64, error) {
	*c.trips++
	return c.List.Len(ctx, key)
}

func TestTrips(t *testing.T) {
	var trips int
	for _, c := range []struct {
		algorithm weir.Algorithm
		store     store.Store
	}{
		{racy.SlidingLog(), countedSet{newMemory(t), &trips}},
		{racy.RingLog(), countedList{newMemory(t), &trips}},
	} {
		w, _ := limiter(t, c.algorithm, c.store)
		for i := range 12 {
			trips = 0
			d, err := w.Take(t.Context(), "k", 1)
			require.NoError(t, err)
			require.Equal(t, i < 10, d.Allowed)
			want := w.Plan().Trips
			if !d.Allowed {
				want = w.Plan().DeniedTrips
			}
			require.Equal(t, want, trips, "%s, request %d", c.algorithm, i)
		}
	}
}
