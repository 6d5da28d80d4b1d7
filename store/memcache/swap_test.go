package memcache_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
)

func load(t *testing.T, s store.Swapper, key string) ([]byte, store.Version) {
	t.Helper()
	value, version, err := s.Load(context.Background(), key)
	require.NoError(t, err)
	return value, version
}

func swap(t *testing.T, s store.Swapper, key string, version store.Version, value string) bool {
	t.Helper()
	swapped, err := s.Swap(context.Background(), key, version, []byte(value), ttl)
	require.NoError(t, err)
	return swapped
}

func TestSwap(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, addr string) {
		value, none := load(t, s, "k")
		require.Nil(t, value)
		require.Empty(t, none)

		require.True(t, swap(t, s, "k", none, "one"), "creates")
		require.False(t, swap(t, s, "k", none, "two"), "there is one")
		value, first := load(t, s, "k")
		require.Equal(t, "one", string(value))

		require.True(t, swap(t, s, "k", first, "two"))
		require.False(t, swap(t, s, "k", first, "three"), "the version is an old one")
		value, second := load(t, s, "k")
		require.Equal(t, "two", string(value))
		require.NotEqual(t, first, second)

		require.NoError(t, s.Delete(context.Background(), "k"))
		require.False(t, swap(t, s, "k", second, "three"), "gone, not changed")
		_, gone := load(t, s, "k")
		require.Empty(t, gone)

		require.True(t, swap(t, s, "k", none, ""), "an empty value is a value")
		value, third := load(t, s, "k")
		require.Empty(t, value)
		require.NotEmpty(t, third)
		require.True(t, swap(t, s, "k", third, "\r\nEND\r\n\x00"), "any bytes")
		value, _ = load(t, s, "k")
		require.Equal(t, "\r\nEND\r\n\x00", string(value))
	})
}

func TestSwapSeesEveryOtherWrite(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, _ string) {
		add(t, s, "k", 1, 1)
		_, version := load(t, s, "k")
		add(t, s, "k", 1, 2)
		require.False(t, swap(t, s, "k", version, "9"))
		_, version = load(t, s, "k")
		require.True(t, swap(t, s, "k", version, "9"))
		add(t, s, "k", 1, 10)
	})
}

func TestSwapConcurrentLosesNoUpdate(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, _ string) {
		const callers, each = 64, 4
		increment := func() error {
			for {
				value, version, err := s.Load(context.Background(), "sum")
				if err != nil {
					return err
				}
				n, _ := strconv.Atoi(string(value))
				swapped, err := s.Swap(context.Background(), "sum", version, strconv.AppendInt(nil, int64(n+1), 10), ttl)
				if swapped || err != nil {
					return err
				}
			}
		}
		var work sync.WaitGroup
		for range callers {
			work.Go(func() {
				for range each {
					if err := increment(); err != nil {
						t.Errorf("increment: %v", err)
					}
				}
			})
		}
		work.Wait()
		value, _ := load(t, s, "sum")
		require.Equal(t, strconv.Itoa(callers*each), string(value))
	})
}

func TestSwapLargestValue(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, _ string) {
		most := s.Traits().MaxValue
		key := string(filled(s.Traits().MaxKey))
		swapped, err := s.Swap(context.Background(), key, "", filled(most), ttl)
		require.NoError(t, err, "the largest value fits under the longest key")
		require.True(t, swapped)
		value, version := load(t, s, key)
		require.Len(t, value, most)

		_, err = s.Swap(context.Background(), key, version, filled(most+1), ttl)
		require.EqualError(t, err, fmt.Sprintf("memcache: swap: value of %d bytes: want at most %d", most+1, most))
		value, _ = load(t, s, key)
		require.Len(t, value, most, "and the old value is kept")
	})
}

func TestSwapArgumentsAreChecked(t *testing.T) {
	s := open(t, inOrder(t), nil)
	for _, bad := range []time.Duration{0, -1, s.Traits().MaxTTL + 1} {
		_, err := s.Swap(context.Background(), "k", "", nil, bad)
		require.ErrorContains(t, err, "memcache: swap: store: ttl")
	}
	_, err := s.Swap(context.Background(), "k", "7", nil, ttl)
	require.EqualError(t, err, "memcache: swap: version of 1 bytes: want one that Load returned")
}

func TestLoadRefusesAServerWithoutCAS(t *testing.T) {
	s := open(t, scripted(t, func(string) string { return "VALUE k 0 1 0\r\nx\r\nEND\r\n" }), patient)
	_, _, err := s.Load(context.Background(), "k")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "memcached -C")
}
