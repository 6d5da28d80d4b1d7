package redis_test

import (
	"context"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// everyMethod calls each method that talks to the server.
func everyMethod(s *redis.Store, r store.Runner) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Add": func(ctx context.Context) error { _, err := s.Add(ctx, "k", 1, time.Minute); return err },
		"AddMembers": func(ctx context.Context) error {
			_, err := s.AddMembers(ctx, "k", time.Minute, store.Member{Name: "a"})
			return err
		},
		"Card":           func(ctx context.Context) error { _, err := s.Card(ctx, "k"); return err },
		"Delete":         func(ctx context.Context) error { return s.Delete(ctx, "k") },
		"Delete nothing": func(ctx context.Context) error { return s.Delete(ctx) },
		"Index":          func(ctx context.Context) error { _, _, err := s.Index(ctx, "k", 0); return err },
		"Len":            func(ctx context.Context) error { _, err := s.Len(ctx, "k"); return err },
		"Load":           func(ctx context.Context) error { _, _, err := s.Load(ctx, "k"); return err },
		"Now":            func(ctx context.Context) error { _, err := s.Now(ctx); return err },
		"PushFront": func(ctx context.Context) error {
			_, err := s.PushFront(ctx, "k", time.Minute, "v")
			return err
		},
		"Range":        func(ctx context.Context) error { _, err := s.Range(ctx, "k", 0, -1); return err },
		"Read":         func(ctx context.Context) error { _, err := s.Read(ctx, "k", "l"); return err },
		"Read nothing": func(ctx context.Context) error { _, err := s.Read(ctx); return err },
		"RemoveUpTo":   func(ctx context.Context) error { _, err := s.RemoveUpTo(ctx, "k", 1); return err },
		"Size":         func(ctx context.Context) error { _, err := s.Size(ctx, "k"); return err },
		"Swap create": func(ctx context.Context) error {
			_, err := s.Swap(ctx, "k", "", []byte("v"), time.Minute)
			return err
		},
		"Swap": func(ctx context.Context) error {
			_, err := s.Swap(ctx, "k", "vold", []byte("v"), time.Minute)
			return err
		},
		"Trim": func(ctx context.Context) error { return s.Trim(ctx, "k", 0, 0) },
		"Run": func(ctx context.Context) error {
			_, err := r.Run(ctx, "k", store.Args{OwnTime: true, Cost: 1, Params: []int64{5}})
			return err
		},
	}
}

// requireWrongType wants the server's own error, findable by its type.
func requireWrongType(t *testing.T, err error) {
	t.Helper()
	var fromServer goredis.Error
	require.ErrorAs(t, err, &fromServer)
	require.ErrorContains(t, err, "WRONGTYPE")
	require.ErrorContains(t, err, "redis: ")
}

func TestCapabilitiesAreTrue(t *testing.T) {
	b := onMini(t)
	traits := b.Traits()
	require.Equal(t, store.Implemented(b.Store), traits.Capabilities)
	require.Equal(t, store.ClassScript, traits.Class())
	require.True(t, traits.Evicts)
	require.False(t, redis.New(b.client, &redis.Options{NoEviction: true}).Traits().Evicts)
}

func TestSwapper(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		ctx := t.Context()
		value, version, err := b.Load(ctx, "s")
		require.NoError(t, err)
		require.Nil(t, value)
		require.Empty(t, version)

		swap := func(version store.Version, value string) bool {
			t.Helper()
			ok, err := b.Swap(ctx, "s", version, []byte(value), time.Minute)
			require.NoError(t, err)
			return ok
		}
		require.True(t, swap("", "one\x00\xff"))
		require.False(t, swap("", "two"), "the empty version only creates")
		b.lives(t, "s", time.Minute)
		value, version, err = b.Load(ctx, "s")
		require.NoError(t, err)
		require.Equal(t, "one\x00\xff", string(value))
		require.True(t, swap(version, "two"))
		require.False(t, swap(version, "three"), "the version is over")
		value, version, err = b.Load(ctx, "s")
		require.NoError(t, err)
		require.Equal(t, "two", string(value))

		b.gone(t, time.Minute, "s")
		require.False(t, swap(version, "three"), "an expired key is no key")
		require.True(t, swap("", ""))
		value, version, err = b.Load(ctx, "s")
		require.NoError(t, err)
		require.Empty(t, value)
		require.NotEmpty(t, version, "an empty value is a value")
		require.True(t, swap(version, "four"))
		require.NoError(t, b.Delete(ctx, "s", "missing"))
		require.False(t, swap(version, "five"))

		_, err = b.Swap(ctx, "s", "nonsense", nil, time.Minute)
		require.ErrorContains(t, err, "version")
		_, err = b.Swap(ctx, "s", "", nil, 0)
		require.ErrorContains(t, err, "ttl")
		_, err = b.Swap(ctx, "s", "", make([]byte, b.Traits().MaxValue+1), time.Minute)
		require.ErrorContains(t, err, "value of 536870913 bytes")

		require.NoError(t, b.client.LPush(ctx, "alist", "x").Err())
		_, _, err = b.Load(ctx, "alist")
		requireWrongType(t, err)
		_, err = b.Swap(ctx, "alist", "vx", nil, time.Minute)
		requireWrongType(t, err)
		ok, err := b.Swap(ctx, "alist", "", nil, time.Minute)
		require.NoError(t, err)
		require.False(t, ok, "there is a key")
	})
}

func TestList(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		ctx := t.Context()
		n, err := b.PushFront(ctx, "l", time.Minute, "a", "b")
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		b.lives(t, "l", time.Minute)
		n, err = b.PushFront(ctx, "l", time.Hour, "c")
		require.NoError(t, err)
		require.EqualValues(t, 3, n)
		require.Equal(t, []string{"c", "b", "a"}, b.client.LRange(ctx, "l", 0, -1).Val())
		require.Greater(t, b.client.PTTL(ctx, "l").Val(), 2*time.Minute, "each push sets the TTL")
		n, err = b.PushFront(ctx, "l", time.Minute)
		require.NoError(t, err)
		require.EqualValues(t, 3, n)

		for i, want := range map[int64]string{0: "c", 2: "a", -1: "a", -3: "c"} {
			got, ok, err := b.Index(ctx, "l", i)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, want, got)
		}
		_, ok, err := b.Index(ctx, "l", 3)
		require.NoError(t, err)
		require.False(t, ok)

		require.NoError(t, b.Trim(ctx, "l", 0, -2))
		require.Equal(t, []string{"c", "b"}, b.client.LRange(ctx, "l", 0, -1).Val())
		n, err = b.Len(ctx, "l")
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.NoError(t, b.Trim(ctx, "l", 5, 9))
		require.Zero(t, b.client.Exists(ctx, "l").Val())
		n, err = b.Len(ctx, "l")
		require.NoError(t, err)
		require.Zero(t, n)

		size := 12_345
		if b.mini != nil {
			size = 2_345 // its pushes copy the whole list
		}
		many := make([]string, size)
		for i := range many {
			many[i] = "v"
		}
		many[len(many)-1] = "front"
		n, err = b.PushFront(ctx, "l", time.Minute, many...)
		require.NoError(t, err)
		require.EqualValues(t, len(many), n)
		require.Equal(t, "front", b.client.LIndex(ctx, "l", 0).Val())

		require.NoError(t, b.client.Set(ctx, "text", "x", 0).Err())
		_, err = b.PushFront(ctx, "text", time.Minute, "v")
		requireWrongType(t, err)
		_, err = b.PushFront(ctx, "text", time.Minute)
		requireWrongType(t, err)
		require.Negative(t, b.client.PTTL(ctx, "text").Val(), "what is not ours keeps its TTL")
		_, err = b.PushFront(ctx, "l", 0, "v")
		require.ErrorContains(t, err, "ttl")
	})
}

// RL-051: neighbouring scores stay apart up to the largest.
func TestRL051SortedSet(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		ctx := t.Context()
		const most = 1<<53 - 1
		n, err := b.AddMembers(ctx, "z", time.Minute,
			store.Member{Score: most, Name: "d"}, store.Member{Score: most - 1, Name: "c"},
			store.Member{Score: -most, Name: "a"}, store.Member{Score: 5, Name: "b"})
		require.NoError(t, err)
		require.EqualValues(t, 4, n)
		b.lives(t, "z", time.Minute)
		members, err := b.Range(ctx, "z", 0, -1)
		require.NoError(t, err)
		require.Equal(t, []store.Member{{Score: -most, Name: "a"}, {Score: 5, Name: "b"}, {Score: most - 1, Name: "c"}, {Score: most, Name: "d"}}, members)
		members, err = b.Range(ctx, "z", -1, -1)
		require.NoError(t, err)
		require.Equal(t, []store.Member{{Score: most, Name: "d"}}, members)

		n, err = b.AddMembers(ctx, "z", time.Hour, store.Member{Score: 6, Name: "b"}, store.Member{Score: 6, Name: "aa"})
		require.NoError(t, err)
		require.EqualValues(t, 1, n, "b only moved")
		require.Greater(t, b.client.PTTL(ctx, "z").Val(), 2*time.Minute)
		n, err = b.RemoveUpTo(ctx, "z", most-1)
		require.NoError(t, err)
		require.EqualValues(t, 4, n)
		n, err = b.Card(ctx, "z")
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		n, err = b.RemoveUpTo(ctx, "z", most)
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		members, err = b.Range(ctx, "z", 0, -1)
		require.NoError(t, err)
		require.Empty(t, members)

		many := make([]store.Member, 9_000)
		for i := range many {
			many[i] = store.Member{Score: int64(i), Name: time.Duration(i).String()}
		}
		n, err = b.AddMembers(ctx, "z", time.Minute, many...)
		require.NoError(t, err)
		require.EqualValues(t, len(many), n)
		n, err = b.AddMembers(ctx, "z", time.Minute)
		require.NoError(t, err)
		require.Zero(t, n)

		_, err = b.AddMembers(ctx, "z", time.Minute, store.Member{Score: most + 1})
		require.ErrorContains(t, err, "score 9007199254740992")
		require.NoError(t, b.client.ZAdd(ctx, "half", goredis.Z{Score: 1.5, Member: "x"}).Err())
		_, err = b.Range(ctx, "half", 0, -1)
		require.ErrorIs(t, err, store.ErrCorrupt)
		require.NoError(t, b.client.Set(ctx, "text", "x", 0).Err())
		_, err = b.AddMembers(ctx, "text", time.Minute)
		requireWrongType(t, err)
		_, err = b.Card(ctx, "text")
		requireWrongType(t, err)
	})
}

func TestDelete(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		ctx := t.Context()
		keys := make([]string, 0, 1500)
		for i := range 1500 {
			keys = append(keys, time.Duration(i).String())
		}
		for _, key := range []string{keys[0], keys[999], keys[1000], keys[1499]} {
			require.NoError(t, b.client.RPush(ctx, key, "x").Err())
		}
		require.NoError(t, b.Delete(ctx, keys...))
		require.Zero(t, b.client.DBSize(ctx).Val())
		require.NoError(t, b.Delete(ctx))
	})
}

func TestClock(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		now, err := b.Now(t.Context())
		require.NoError(t, err)
		if b.mini != nil {
			require.True(t, now.Equal(start), now)
			return
		}
		require.WithinDuration(t, time.Now(), now, time.Minute)
	})
}

func TestSize(t *testing.T) {
	t.Run("miniredis", func(t *testing.T) { t.Skip("its MEMORY USAGE is invented") })
	onReal(t, func(t *testing.T, b backend) {
		ctx := t.Context()
		n, err := b.Size(ctx, "missing")
		require.NoError(t, err)
		require.Zero(t, n)
		ok, err := b.Swap(ctx, "value", "", make([]byte, 1000), time.Minute)
		require.NoError(t, err)
		require.True(t, ok)
		n, err = b.Size(ctx, "value")
		require.NoError(t, err)
		require.Greater(t, n, int64(1000))
		require.Less(t, n, int64(1300))
	})
}
