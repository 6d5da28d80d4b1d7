package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
)

// quota admits up to p[1] in all: once on a value, once with the key in its own hands.
var quota = map[string]*store.Step{
	"value": {Name: "quota", Lua: `return function(state, now, own, cost, p)
  local n = tonumber(state or '0')
  if not n then return nil end
  local allowed = cost == 0 or n + cost <= p[1]
  if allowed then n = n + cost end
  return allowed and cost > 0 and string.format('%d', n), 1000000, allowed and 1 or 0, p[1] - n, allowed and 0 or 1, 0
end`},
	"keyed": {Name: "quota_keyed", Keyed: true, Lua: `return function(key, now, own, cost, p, px)
  local state = redis.call('GET', key)
  local n = tonumber(state or '0')
  if not n then return nil end
  local allowed = cost == 0 or n + cost <= p[1]
  if allowed and cost > 0 then
    n = n + cost
    redis.call('INCRBY', key, cost)
    redis.call('PEXPIRE', key, px(1000000))
  end
  return allowed and 1 or 0, p[1] - n, allowed and 0 or 1, 0
end`},
}

func quotaArgs(cost int64) store.Args {
	return store.Args{OwnTime: true, Cost: cost, Params: []int64{10}}
}

// asked is one of several requests, and decide makes them share a trip.
type asked struct {
	key  string
	args store.Args
}

func (r *runner) decide(ctx context.Context, all []asked) ([]store.Reply, []error) {
	asking := r.requests(all)
	r.store.decide(ctx, asking, r.store.exchange)
	replies, errs := make([]store.Reply, len(all)), make([]error, len(all))
	for i, q := range asking {
		replies[i], errs[i] = q.reply, q.err
	}
	return replies, errs
}

func (r *runner) requests(all []asked) []*request {
	asking := make([]*request, len(all))
	for i, a := range all {
		asking[i] = &request{runner: r, key: r.space + a.key, args: a.args}
	}
	return asking
}

// eachDecider runs f with both kinds of step, on the stand-in and on real Redis.
func eachDecider(t *testing.T, f func(t *testing.T, r *runner, client *goredis.Client)) {
	addrs := map[string]func(t *testing.T) string{
		"miniredis": func(t *testing.T) string { return miniredis.RunT(t).Addr() },
		"redis":     func(t *testing.T) string { return servertest.Redis(t).Addr },
	}
	for server, addr := range addrs {
		t.Run(server, func(t *testing.T) {
			st, err := Open("redis://"+addr(t), nil)
			require.NoError(t, err)
			defer st.Close()
			client := st.client.(*goredis.Client)
			for kind, step := range quota {
				t.Run(kind, func(t *testing.T) {
					require.NoError(t, client.FlushAll(t.Context()).Err())
					f(t, st.prepare(step, "q/"), client)
				})
			}
		})
	}
}

func TestBatchDecidesAsOneAfterAnother(t *testing.T) {
	eachDecider(t, func(t *testing.T, r *runner, client *goredis.Client) {
		const seed = 7
		random := rand.New(rand.NewPCG(seed, 0))
		used := map[string]int64{}
		for _, size := range []int{1, 2, 64, 700} {
			requests := make([]asked, size)
			for i := range requests {
				requests[i] = asked{key: fmt.Sprint(random.IntN(20)), args: quotaArgs(random.Int64N(4))}
				if random.IntN(5) == 0 {
					requests[i].args.OwnTime, requests[i].args.Now = false, random.Int64N(3)
				}
			}
			replies, errs := r.decide(t.Context(), requests)
			for i, q := range requests {
				require.NoError(t, errs[i])
				allowed := q.args.Cost == 0 || used[q.key]+q.args.Cost <= 10
				if allowed {
					used[q.key] += q.args.Cost
				}
				require.Equal(t, allowed, replies[i].Allowed, "seed %d, request %d of %d: %+v", seed, i, size, q)
				require.Equal(t, 10-used[q.key], replies[i].Remaining)
			}
		}
		for key, n := range used {
			if n > 0 {
				require.Equal(t, strconv.FormatInt(n, 10), client.Get(t.Context(), "q/"+key).Val())
				require.Positive(t, client.PTTL(t.Context(), "q/"+key).Val())
			}
		}
	})
}

func TestOneBadKeyFailsAlone(t *testing.T) {
	eachDecider(t, func(t *testing.T, r *runner, client *goredis.Client) {
		ctx := t.Context()
		require.NoError(t, client.Set(ctx, "q/corrupt", "abc", 0).Err())
		require.NoError(t, client.LPush(ctx, "q/list", "x").Err())
		require.NoError(t, client.Set(ctx, "q/held", "3", time.Minute).Err())
		var requests []asked
		for _, key := range []string{"a", "corrupt", "list", "held", "list", "a"} {
			requests = append(requests, asked{key, quotaArgs(1)})
		}
		requests = append(requests, asked{"list", quotaArgs(0)}, asked{"none", quotaArgs(0)})
		replies, errs := r.decide(ctx, requests)
		require.ErrorIs(t, errs[1], store.ErrCorrupt)
		for _, i := range []int{2, 4, 6} {
			var fromServer goredis.Error
			require.ErrorAs(t, errs[i], &fromServer)
			require.ErrorContains(t, errs[i], "WRONGTYPE")
			require.ErrorIs(t, errs[i], store.ErrCorrupt, "the server did answer")
		}
		for i, left := range map[int]int64{0: 9, 3: 6, 5: 8, 7: 10} {
			require.NoError(t, errs[i])
			require.Equal(t, left, replies[i].Remaining)
		}
		require.Equal(t, "abc", client.Get(ctx, "q/corrupt").Val())
		require.Equal(t, []string{"x"}, client.LRange(ctx, "q/list", 0, -1).Val())
		require.Zero(t, client.Exists(ctx, "q/none").Val())

		_, errs = r.decide(ctx, []asked{{"list", quotaArgs(0)}, {"none", quotaArgs(0)}})
		require.ErrorContains(t, errs[0], "WRONGTYPE", "a mere peek too")
		require.NoError(t, errs[1])

		_, err := r.Run(ctx, "list", quotaArgs(1))
		require.ErrorIs(t, err, store.ErrCorrupt, "on its own too")
	})
}

// RL-088: a pipeline of scripts that the server forgot.
func TestRL088BatchesAfterScriptFlush(t *testing.T) {
	eachDecider(t, func(t *testing.T, r *runner, client *goredis.Client) {
		for round := range int64(3) {
			require.NoError(t, client.ScriptFlush(t.Context()).Err())
			requests := make([]asked, 3)
			for i := range requests { // a script each, since their times differ
				requests[i] = asked{"k", store.Args{Now: int64(i), Cost: 1, Params: []int64{10}}}
			}
			require.Len(t, r.store.newTrip(t.Context(), r.requests(requests)).calls, 3)
			replies, errs := r.decide(t.Context(), requests)
			for i := range requests {
				require.NoError(t, errs[i])
				require.Equal(t, 9-3*round-int64(i), replies[i].Remaining)
			}
		}
	})
}

func TestBatchesKeepSlotsApart(t *testing.T) {
	cluster := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer cluster.Close()
	r := New(cluster, nil).prepare(quota["value"], "s/")
	random := rand.New(rand.NewPCG(1, 2))
	var requests []asked
	for range 3000 {
		requests = append(requests, asked{fmt.Sprint("{", random.IntN(5), "}", random.IntN(9)), quotaArgs(1)})
	}
	n := 0
	for _, c := range r.store.newTrip(t.Context(), r.requests(requests)).calls {
		require.LessOrEqual(t, c.size, maxBatch)
		for _, q := range c.heads {
			require.Equal(t, slot(c.heads[0].key), slot(q.key))
			for ; q != nil; q = q.next {
				n++
			}
		}
	}
	require.Equal(t, len(requests), n)
}

func TestReadRefuses(t *testing.T) {
	for _, reply := range [][]int64{{}, {1}, {0, 5}, {2}, {-4, 0, 0}, {1, 0, 1}, {3, 0}} {
		q := &request{runner: &runner{name: "quota"}}
		require.ErrorIs(t, (&call{heads: []*request{q}}).read(reply), store.ErrGarbled, "%v", reply)
	}
	for _, reply := range [][]int64{{1, -1}, {3}, {0, 0, 0}, {2, 1}, {0, 1, -1}, {markGarbled}} {
		q := &request{runner: &runner{name: "quota"}}
		require.NoError(t, (&call{heads: []*request{q}}).read(reply))
		require.ErrorIs(t, q.err, store.ErrGarbled, "%v", reply)
	}
}

// The examples of the Redis Cluster specification and of CLUSTER KEYSLOT.
func TestSlot(t *testing.T) {
	require.Equal(t, 0x31c3, slot("123456789"))
	require.Equal(t, 12182, slot("foo"))
	require.Equal(t, slot("user1000"), slot("{user1000}.following"))
	require.Equal(t, slot("{bar"), slot("foo{{bar}}zap"))
	require.Equal(t, slot("bar"), slot("foo{bar}{zap}"))
	require.NotEqual(t, slot("bar"), slot("foo{}{bar}"))
	require.Zero(t, slot(""))
}
