package redis

import (
	"context"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
)

func TestCluster(t *testing.T) {
	cluster := servertest.Cluster(t, 3, 0)
	s, err := Open(cluster.URL(), nil)
	require.NoError(t, err)
	defer s.Close()
	ctx := t.Context()

	keys := make([]string, 60)
	requests := make([]asked, len(keys))
	for i := range keys {
		keys[i] = fmt.Sprint("s/", i)
		requests[i] = asked{fmt.Sprint(i), quotaArgs(int64(i % 3))}
	}
	for kind, step := range quota {
		t.Run(kind, func(t *testing.T) {
			r := s.prepare(step, "s/")
			for round := range int64(2) {
				replies, errs := r.decide(ctx, requests)
				for i := range requests {
					require.NoError(t, errs[i])
					require.Equal(t, 10-(round+1)*int64(i%3), replies[i].Remaining)
				}
			}
			one, err := r.Run(ctx, "{1}", quotaArgs(1))
			require.NoError(t, err)
			require.EqualValues(t, 9, one.Remaining)
			counts, err := s.Read(ctx, keys...)
			require.NoError(t, err)
			for i, n := range counts {
				require.EqualValues(t, 2*(i%3), n)
			}
			require.NoError(t, s.Delete(ctx, append(keys, "s/{1}")...))
			counts, err = s.Read(ctx, keys...)
			require.NoError(t, err)
			require.Equal(t, make([]int64, len(keys)), counts)
		})
	}

	for _, key := range keys[:10] {
		n, err := s.Add(ctx, key, 4, time.Minute)
		require.NoError(t, err)
		require.EqualValues(t, 4, n)
		ok, err := s.Swap(ctx, key, "v4", []byte("five"), time.Minute)
		require.NoError(t, err)
		require.True(t, ok)
		n, err = s.PushFront(ctx, "l"+key, time.Minute, "a", "b")
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		n, err = s.AddMembers(ctx, "z"+key, time.Minute, store.Member{Score: 1, Name: "a"})
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		n, err = s.Size(ctx, "z"+key)
		require.NoError(t, err)
		require.Positive(t, n)
	}
	_, err = s.Now(ctx)
	require.NoError(t, err)

	t.Run("redirections are followed, and count once", func(t *testing.T) {
		lost := goredis.NewClusterClient(&goredis.ClusterOptions{
			ClusterSlots: func(context.Context) ([]goredis.ClusterSlot, error) { // an old map
				return []goredis.ClusterSlot{{Start: 0, End: slots - 1, Nodes: []goredis.ClusterNode{{Addr: cluster.Masters[0].Addr}}}}, nil
			},
		})
		defer lost.Close()
		s := New(lost, nil)
		replies, errs := s.prepare(quota["value"], "s/").decide(ctx, requests)
		for i := range requests[10:] {
			require.NoError(t, errs[10+i])
			require.EqualValues(t, 10-(10+i)%3, replies[10+i].Remaining)
		}
		for _, key := range keys[10:] {
			n, err := s.Add(ctx, "moved"+key, 1, time.Minute)
			require.NoError(t, err)
			require.EqualValues(t, 1, n)
		}
	})

	node := goredis.NewClient(&goredis.Options{Addr: cluster.Masters[0].Addr})
	defer node.Close()
	for _, key := range []string{"", "a", "{", "}", "{}", "{}a", "{a}b", "x{a}b{c}", "a{{b}}c", "\x00\xff{\r\n}", "weir/gcra.1.1s/{user}"} {
		want, err := node.ClusterKeySlot(ctx, key).Result()
		require.NoError(t, err)
		require.EqualValues(t, want, slot(key), "%q", key)
	}
}
