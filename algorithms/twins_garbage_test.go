package algorithms_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// oneValue are the algorithms whose state is the same bytes in Go and in Lua.
func oneValue() []weir.Algorithm {
	return append(slices.DeleteFunc(hostile(), func(a weir.Algorithm) bool {
		return a.Name() == "sliding-log" || a.Name() == "ring-log" || a.Name() == "layered"
	}), weir.Layered(algorithms.FixedWindow(), weir.Layer{Algorithm: algorithms.GCRA(nil), Limit: weir.Limit{Count: 3, Window: time.Second}}))
}

// twins runs a step's Lua twin on a server, on any bytes.
type twins struct {
	store  *redis.Store
	client *goredis.Client
	mini   *miniredis.Miniredis // nil: a real server, whose time cannot be set
}

func newTwins(t testing.TB, addr string, mini *miniredis.Miniredis) *twins {
	st, err := redis.Open("redis://"+addr, nil)
	require.NoError(t, err)
	client := goredis.NewClient(&goredis.Options{Addr: addr})
	t.Cleanup(func() {
		require.NoError(t, st.Close())
		require.NoError(t, client.Close())
	})
	return &twins{st, client, mini}
}

// compare requires that the twins say and write the same, or that neither knows the bytes and both leave them.
func (w *twins) compare(t testing.TB, a weir.Algorithm, l weir.Limit, state []byte, args store.Args) {
	t.Helper()
	ctx := context.Background()
	step, params := algorithms.StepOf(a, l)
	args.Params = params
	want := step.Func(slices.Clone(state), args)

	if len(state) == 0 {
		require.NoError(t, w.client.Del(ctx, "k").Err())
	} else {
		require.NoError(t, w.client.Set(ctx, "k", state, time.Hour).Err())
	}
	if args.OwnTime {
		w.mini.SetTime(time.UnixMicro(args.Now))
	}
	runner, err := w.store.Prepare(step, "")
	require.NoError(t, err)
	got, err := runner.Run(ctx, "k", args)
	if want.Corrupt || want.Reply.Check() != nil {
		require.Error(t, err, "%s at %s on %.80q, %+v: Lua says %+v, Go corrupt %t, %+v", a, l, state, args, got, want.Corrupt, want.Reply)
	} else {
		require.NoError(t, err, "%s at %s on %.80q, %+v: Go says %+v", a, l, state, args, want.Reply)
		require.Equal(t, want.Reply, got, "%s at %s on %.80q, %+v", a, l, state, args)
	}
	if want.Reply.Check() != nil {
		return // what was written with a reply that no step can give does not matter
	}
	if want.State != nil {
		state = want.State
	}
	left, err := w.client.Get(ctx, "k").Bytes()
	if len(state) == 0 {
		require.ErrorIs(t, err, goredis.Nil)
		return
	}
	require.NoError(t, err)
	require.Equal(t, state, left, "%s at %s, %+v", a, l, args)
}

// The Lua twin of every step takes and refuses the same bytes as the Go twin, does the same with them, and
// leaves the rest: honest states under a few changes, at honest and other times.
func TestTwinsAgreeOnGarbage(t *testing.T) {
	const seed = 20
	for _, server := range []struct {
		name string
		open func(testing.TB) *twins
		each int
	}{
		{"miniredis", func(t testing.TB) *twins { mini := miniredis.RunT(t); return newTwins(t, mini.Addr(), mini) }, 40},
		{"redis", func(t testing.TB) *twins { return newTwins(t, servertest.Redis(t).Addr, nil) }, 200},
	} {
		t.Run(server.name, func(t *testing.T) {
			w := server.open(t)
			random := rand.New(rand.NewPCG(seed, seed))
			for _, a := range oneValue() {
				l := weir.Limit{Count: 10, Window: time.Minute}
				honest := honestStates(a, l)
				for range server.each {
					args := store.Args{
						Now: epoch + random.Int64N(3*l.Window.Microseconds()), Cost: random.Int64N(14) - 3,
						OwnTime: w.mini != nil && random.IntN(2) == 0,
					}
					w.compare(t, a, l, garble(random, honest[random.IntN(len(honest))]), args)
				}
			}
		})
	}
}

// garble changes a state a little: other bytes, fewer, more.
func garble(random *rand.Rand, state []byte) []byte {
	state = slices.Clone(state)
	for range 1 + random.IntN(3) {
		if len(state) == 0 {
			break
		}
		i := random.IntN(len(state))
		switch random.IntN(6) {
		case 0:
			state[i] ^= 1 << random.IntN(8)
		case 1:
			state[i] = byte(random.IntN(256))
		case 2:
			state[i] = []byte{0, 1, 0x7f, 0x80, 0xff}[random.IntN(5)]
		case 3:
			state = state[:i]
		case 4:
			state = slices.Insert(state, i, byte(random.IntN(256)))
		default:
			state = append(state, state[i:]...)
		}
	}
	return state
}

// A refund that reaches far back reads the end of a long stream again and again.
func TestLuaGivesBackFarAsGo(t *testing.T) {
	a, l := algorithms.PackedLog(nil), weir.Limit{Count: 5000, Window: time.Hour}
	step, params := algorithms.StepOf(a, l)
	var state []byte
	now := int64(epoch)
	for i := range int64(1500) {
		now += 300_000
		res := step.Func(state, store.Args{Now: now, Cost: 1 + i%2, Params: params})
		require.NotNil(t, res.State)
		state = res.State
	}
	mini := miniredis.RunT(t)
	for _, w := range []*twins{newTwins(t, mini.Addr(), mini), newTwins(t, servertest.Redis(t).Addr, nil)} {
		for _, back := range []int64{1, 10, 100, 400, 700, 1500, 2249, 2250} {
			w.compare(t, a, l, state, store.Args{Now: now, Cost: -back})
		}
	}
}

// FuzzTwins compares the twins on any bytes, on a real server.
func FuzzTwins(f *testing.F) {
	w := newTwins(f, servertest.Redis(f).Addr, nil)
	all := oneValue()
	for i, a := range all {
		l := weir.Limit{Count: 10, Window: time.Minute}
		for _, state := range honestStates(a, l) {
			f.Add(state, uint8(i), l.Count-1, l.Window.Microseconds()-1000, int64(epoch), int64(1))
		}
	}
	f.Fuzz(func(t *testing.T, state []byte, which uint8, count, window, now, cost int64) {
		a, l := all[int(which)%len(all)], saneLimit(count, window)
		shape, err := a.Shape(l)
		if err != nil {
			return
		}
		w.compare(t, a, l, state, store.Args{
			Now: int64(uint64(now) % 7_000_000_000_000_000), Cost: cost % min(shape.Capacity+1, 10_000),
		})
	})
}
