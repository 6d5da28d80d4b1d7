package redis_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// countStep admits up to p[1] in all, and forgets after a second.
var countStep = &store.Step{
	Name: "count",
	Lua: `return function(state, now, own, cost, p)
  local n = tonumber(state or '0')
  if not n then return nil end
  if n + cost > p[1] then return false, 0, 0, p[1] - n, 1, 1 end
  n = n + cost
  return cost > 0 and string.format('%d', n) or false, 1000000, 1, p[1] - n, 0, now % 1000000
end`,
}

// model runs a step's Go twin on a map: what the Lua twin has to agree with. It offers
// all that the store does, so that the same plan is taken.
type model struct {
	*redis.Store
	now    func() time.Time
	states map[string][]byte
}

func (m *model) Prepare(s *store.Step, space string) (store.Runner, error) {
	return modelRunner{m, s, space}, nil
}

type modelRunner struct {
	*model
	step  *store.Step
	space string
}

func (r modelRunner) Run(_ context.Context, key string, args store.Args) (store.Reply, error) {
	if args.OwnTime {
		args.Now = r.now().UnixMicro()
	}
	state := append([]byte(nil), r.states[r.space+key]...)
	result := r.step.Func(state, args)
	if result.Corrupt {
		return store.Reply{}, store.ErrCorrupt
	}
	if result.State != nil {
		r.states[r.space+key] = result.State
	}
	return result.Reply, nil
}

// Every algorithm decides the same in Lua as in Go, and leaves no key without a TTL
// (RL-026), with the server's clock (which only the stand-in lets us move) and with an
// injected one.
func TestStepsOfAllAlgorithms(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		cage := weir.Layered(algorithms.FixedWindow(), weir.Layer{Algorithm: algorithms.GCRA(nil), Limit: weir.Limit{Count: 2, Window: 5 * time.Millisecond}})
		for _, algorithm := range append(algorithms.All(), cage) {
			for _, limit := range []weir.Limit{{Count: 3, Window: time.Second}, {Count: 7, Window: 10 * time.Millisecond}, {Count: 100, Window: 30 * 24 * time.Hour}} {
				for _, own := range []bool{true, false} {
					if own && b.mini == nil {
						continue
					}
					t.Run(fmt.Sprintf("%s/%v/own=%t", algorithm.Name(), limit, own), func(t *testing.T) {
						compare(t, b, algorithm, limit, own)
					})
				}
			}
		}
		keys, err := b.client.Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		require.NotEmpty(t, keys)
		for _, key := range keys {
			require.Positive(t, b.client.PTTL(t.Context(), key).Val(), "RL-026: %q", key)
		}
	})
}

func compare(t *testing.T, b backend, algorithm weir.Algorithm, limit weir.Limit, own bool) {
	const seed = 41
	random := rand.New(rand.NewPCG(seed, 0))
	now := start
	opts := &weir.Options{Prefix: fmt.Sprintf("own=%t", own)}
	if !own {
		opts.Clock = func() time.Time { return now }
	}
	twin := &model{Store: b.Store, states: map[string][]byte{}, now: func() time.Time { return now }}
	lua, err := weir.New(algorithm, limit, b.Store, opts)
	require.NoError(t, err)
	inGo, err := weir.New(algorithm, limit, twin, opts)
	require.NoError(t, err)
	require.Equal(t, inGo.Plan().Name, lua.Plan().Name)

	for i := range 60 {
		step := time.Duration(random.Int64N(int64(limit.Window) / 2))
		if random.IntN(10) == 0 {
			step = -3 * step // the clock is set back
		}
		now = now.Add(step).Truncate(time.Microsecond)
		if b.mini != nil {
			b.mini.SetTime(now)
		}
		key, cost := fmt.Sprint("k", random.IntN(2)), random.Int64N(4)
		want, err := inGo.Take(t.Context(), key, cost)
		require.NoError(t, err)
		got, err := lua.Take(t.Context(), key, cost)
		require.NoError(t, err)
		require.Equal(t, want, got, "seed %d, request %d: cost %d of %s at %v", seed, i, cost, key, now)
	}
}

// By the server's clock no key ends before its state does, also where a write within a window
// leaves the TTL as it is.
func TestKeysOutliveTheirState(t *testing.T) {
	onReal(t, func(t *testing.T, b backend) {
		for _, algorithm := range algorithms.All() {
			limit := weir.Limit{Count: 1_000_000, Window: 7 * time.Millisecond}
			limiter, err := weir.New(algorithm, limit, b.Store, nil)
			require.NoError(t, err)
			for i := range 150 {
				now, err := b.Now(t.Context())
				require.NoError(t, err)
				d, err := limiter.Take(t.Context(), "k", 1)
				require.NoError(t, err)
				require.True(t, d.Allowed)
				at, err := b.client.PExpireTime(t.Context(), limiter.Keys("k")[0]).Result()
				require.NoError(t, err)
				if at == -2 {
					continue // over already
				}
				require.GreaterOrEqual(t, at, time.Duration(now.Add(d.ResetAfter).UnixMilli())*time.Millisecond, "%s, request %d", algorithm, i)
			}
		}
	})
}

func TestRun(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		ctx := t.Context()
		r, err := b.Prepare(countStep, "space/")
		require.NoError(t, err)
		args := func(cost int64) store.Args { return store.Args{OwnTime: true, Cost: cost, Params: []int64{5}} }

		got, err := r.Run(ctx, "k", args(2))
		require.NoError(t, err)
		require.True(t, got.Allowed)
		require.EqualValues(t, 3, got.Remaining)
		if b.mini != nil {
			require.EqualValues(t, 123_456, got.ResetAfter, "the server's time in whole microseconds")
		}
		value, _, err := b.Load(ctx, "space/k")
		require.NoError(t, err)
		require.Equal(t, "2", string(value), "the key's full name is space + key")
		b.lives(t, "space/k", time.Second)

		got, err = r.Run(ctx, "k", args(4))
		require.NoError(t, err)
		require.Equal(t, store.Reply{Remaining: 3, RetryAfter: 1, ResetAfter: 1}, got)

		_, err = r.Run(ctx, "peek", args(0))
		require.NoError(t, err)
		require.Zero(t, b.client.Exists(ctx, "space/peek").Val(), "a peek writes nothing")

		_, err = r.Run(ctx, "theirs", store.Args{Now: 7, Cost: 1, Params: []int64{5}})
		require.NoError(t, err)
		b.lives(t, "space/theirs", store.HousekeepingTTL)
		require.Greater(t, b.client.PTTL(ctx, "space/theirs").Val(), store.HousekeepingTTL-time.Minute)

		for i, key := range odd {
			for range i % 3 {
				_, err = r.Run(ctx, "odd"+key, args(1))
				require.NoError(t, err)
			}
			got, err = r.Run(ctx, "odd"+key, args(0))
			require.NoError(t, err)
			require.EqualValues(t, 5-i%3, got.Remaining, "%q", key)
		}

		require.NoError(t, b.client.Set(ctx, "space/bad", "abc", 0).Err())
		_, err = r.Run(ctx, "bad", args(1))
		require.ErrorIs(t, err, store.ErrCorrupt)
		require.Equal(t, "abc", b.client.Get(ctx, "space/bad").Val())

		require.NoError(t, b.client.LPush(ctx, "space/list", "x").Err())
		_, err = r.Run(ctx, "list", args(1))
		requireWrongType(t, err)
	})
}

// RL-052: a fraction is an error, not cut off.
func TestRL052RepliesThatNoStepCanGive(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		for lua, garbled := range map[string]bool{
			"1, 3.5, 0, 0": false, "1, 0, 0, 1/0": false, "true, 0, 0, 0": false,
			"1, -1, 0, 0": true, "7, 0, 0, 0": true, "1, 0, 5, 0": true, "0, 0, 0, 0": true,
		} {
			r, err := b.Prepare(&store.Step{Name: "bad", Lua: "return function() return 'x', 1000, " + lua + " end"}, "")
			require.NoError(t, err)
			_, err = r.Run(t.Context(), "k", store.Args{Cost: 1})
			require.ErrorContains(t, err, "redis: bad: ", lua)
			if garbled {
				require.ErrorIs(t, err, store.ErrGarbled, lua)
			} else {
				require.Zero(t, b.client.Exists(t.Context(), "k").Val(), "nothing was written: %s", lua)
			}
			require.NoError(t, b.client.FlushAll(t.Context()).Err())
		}
	})
}

func TestPrepareRefuses(t *testing.T) {
	b := onMini(t)
	for want, step := range map[string]*store.Step{
		"step nil": nil, `step name "a b"`: {Name: "a b", Lua: "x"}, `step name ""`: {Lua: "x"}, "has no Lua twin": {Name: "a"},
	} {
		_, err := b.Prepare(step, "s")
		require.ErrorContains(t, err, want)
	}
}

// RL-086: scripts that the server forgot are sent again, and count once.
func TestRL086ScriptFlush(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		r, err := b.Prepare(countStep, "")
		require.NoError(t, err)
		for i := range int64(5) {
			require.NoError(t, b.client.ScriptFlush(t.Context()).Err())
			got, err := r.Run(t.Context(), "run", store.Args{OwnTime: true, Cost: 1, Params: []int64{9}})
			require.NoError(t, err)
			require.Equal(t, 8-i, got.Remaining)
			require.NoError(t, b.client.ScriptFlush(t.Context()).Err())
			n, err := b.Add(t.Context(), "add", 1, time.Minute)
			require.NoError(t, err)
			require.Equal(t, i+1, n)
		}
	})
}

// RL-091: a read-only replica is an error that says so.
func TestRL091Replica(t *testing.T) {
	onReal(t, func(t *testing.T, b backend) {
		require.NoError(t, b.client.Do(t.Context(), "replicaof", "127.0.0.1", "1").Err())
		for _, a := range algorithms.All() {
			limiter, err := weir.New(a, weir.Limit{Count: 3, Window: time.Second}, b.Store, nil)
			require.NoError(t, err)
			_, err = limiter.Take(t.Context(), "k", 1)
			require.ErrorContains(t, err, "READONLY", a.Name())
			var fromServer goredis.Error
			require.ErrorAs(t, err, &fromServer)
			require.Regexp(t, "^READONLY ", fromServer.Error(), "%s: by this the client knows that it has the wrong server", a.Name())
		}
		_, err := b.Add(t.Context(), "k", 1, time.Minute)
		require.ErrorContains(t, err, "READONLY")
	})
}

// A full server that may not evict is full, as others are, in the server's own words.
func TestOutOfMemory(t *testing.T) {
	onReal(t, func(t *testing.T, b backend) {
		require.NoError(t, b.client.ConfigSet(t.Context(), "maxmemory", "1").Err())
		for _, a := range algorithms.All() {
			limiter, err := weir.New(a, weir.Limit{Count: 3, Window: time.Second}, b.Store, nil)
			require.NoError(t, err)
			_, err = limiter.Take(t.Context(), "k", 1)
			var fromServer goredis.Error
			require.ErrorAs(t, err, &fromServer)
			require.ErrorContains(t, err, "OOM", a.Name())
			require.ErrorIs(t, err, store.ErrFull, a.Name())
		}
		_, err := b.Add(t.Context(), "k", 1, time.Minute)
		require.ErrorIs(t, err, store.ErrFull)
	})
}

func ExampleOpen() {
	st, err := redis.Open("redis://localhost:6379/0", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	fmt.Println(st.Traits().Class())
	// Output: ZSET + scripting
}
