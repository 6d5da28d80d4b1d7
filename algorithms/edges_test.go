package algorithms_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// Simulated time may start at zero.
func TestTimeZero(t *testing.T) {
	onStores(t, variants(), func(t *testing.T, a weir.Algorithm, st store.Store) {
		clock := &simClock{}
		l := newLimiter(t, a, "9/1s", st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
		want := min(l.Capacity(), 9)
		for i := range want + 2 {
			clock.us.Store(i * 100)
			d, err := l.Take(context.Background(), "k", 1)
			require.NoError(t, err)
			require.Equal(t, i < want, d.Allowed, i)
		}
		if l.Plan().Refunds {
			d, err := l.Refund(context.Background(), "k", want)
			require.NoError(t, err)
			require.Positive(t, d.Remaining)
		}
	})
}

// Keys of all kinds are limited each on its own, and forgotten each on its own.
func TestKeysOfAllKinds(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	keys := []string{
		"", " ", "#", "#a", "{", "}", "{}", "}1", "{:}1", "a{b}c", "a{b}d", "1", "k", "k1", "~#a", ":",
		"\r\n", "a\r\nset x 0 0 1\r\n1", "\x00", "\x7f", "\xff\xfe", "é", long, long + "y", long[:128], long[:129],
	}
	layers := weir.Layered(algorithms.SlidingLog(),
		weir.Layer{Algorithm: algorithms.PackedLog(nil), Limit: weir.Limit{Count: 3, Window: time.Minute}},
		weir.Layer{Algorithm: algorithms.GCRA(nil), Limit: weir.Limit{Count: 4, Window: time.Second}})
	onStores(t, append(algorithms.All(), layers), func(t *testing.T, a weir.Algorithm, st store.Store) {
		clock := newSimClock(epoch)
		l := newLimiter(t, a, "3/1h", st, &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)})
		for i := range 2 {
			for _, key := range keys {
				d, err := l.Take(context.Background(), key, 2)
				require.NoError(t, err, "%q", key)
				require.Equal(t, i == 0, d.Allowed, "%q", key)
				require.EqualValues(t, 1, d.Remaining, "%q", key)
			}
		}
		for _, key := range keys {
			require.NoError(t, l.Reset(context.Background(), key))
			d, err := l.Peek(context.Background(), key)
			require.NoError(t, err)
			require.EqualValues(t, 3, d.Remaining, "%q", key)
		}
	})
}

// What others left under a key is an error, lets nobody pass, and stays.
func TestForeignStatesOnRedis(t *testing.T) {
	server := servertest.Redis(t)
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr})
	defer func() { require.NoError(t, client.Close()) }()
	st, err := redis.Open("redis://"+server.Addr, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()

	ctx := context.Background()
	layer := weir.Layer{Algorithm: algorithms.BucketedWindow(nil), Limit: weir.Limit{Count: 3, Window: time.Minute}}
	for _, a := range append(variants(), weir.Layered(algorithms.FixedWindow(), layer), weir.Layered(algorithms.RingLog(nil), layer)) {
		l := newLimiter(t, a, "3/1h", st, nil)
		key := l.Keys("k")[0]
		for _, command := range [][]any{
			{"set", key, "hello"},
			{"set", key, strings.Repeat("\xff", 64)},
			{"set", key, strings.Repeat("\x02", 3000)},
			{"set", key, strings.Repeat("\x00", 5)},
			{"hset", key, "a", "b"},
			{"rpush", key, "x", "y"},
			{"rpush", key, "nan"},
			{"rpush", key, "inf", "5"},
			{"rpush", key, "1.5"},
			{"zadd", key, "+inf", "a", "5", "b"},
			{"zadd", key, "-inf", "a"},
			{"zadd", key, "1e300", "a", "5", "b"},
			{"zadd", key, "1700000000.5", "a"},
		} {
			require.NoError(t, client.Del(ctx, key).Err())
			require.NoError(t, client.Do(ctx, command...).Err())
			before := client.Dump(ctx, key).Val()
			_, err := l.Take(ctx, "k", 1)
			require.Error(t, err, "%s: %.40q", a, command)
			_, err = l.Refund(ctx, "k", 1)
			require.Error(t, err, "%s: %.40q", a, command)
			require.Equal(t, before, client.Dump(ctx, key).Val(), "%s: %.40q", a, command)
		}
	}
}

// Under another limit or burst the numbers stay true: what remains can be taken, and the
// wait that is told is the wait.
func TestWaitsStayTrueWhenTheLimitChanges(t *testing.T) {
	run := 0
	changed := func(t *testing.T, a weir.Algorithm, st store.Store, to weir.Algorithm, limit string) {
		clock := &simClock{}
		options := &weir.Options{Clock: clock.Now, Prefix: fmt.Sprint(storetest.Prefix(t), run)}
		run++
		s := &simulation{t: t, clock: clock, limiter: newLimiter(t, a, "60/20s", st, options)}
		s.at(3, 10)
		s.at(9, 10)
		s.limiter = newLimiter(t, to, limit, st, options)
		left := s.at(10, 0).Remaining
		require.LessOrEqual(t, left, s.limiter.Capacity())
		require.True(t, s.at(10, left).Allowed, limit)
		d := s.at(10, 1)
		require.False(t, d.Allowed, limit)
		require.Zero(t, d.Remaining, limit)
		told := 10 + d.RetryAfter.Seconds()
		require.False(t, s.at(told-1e-6, 1).Allowed, limit)
		require.True(t, s.at(told, 1).Allowed, limit)
	}
	limits := []string{"1/20s", "7/20s", "20/20s", "41/20s", "300/20s"}
	onStores(t, all, func(t *testing.T, a weir.Algorithm, st store.Store) {
		for _, limit := range limits {
			changed(t, a, st, a, limit)
		}
	})
	onStores(t, burst(50), func(t *testing.T, a weir.Algorithm, st store.Store) {
		for _, to := range []int64{1, 5, 400} {
			for _, limit := range limits {
				changed(t, a, st, burst(to)[0], limit)
			}
		}
	})
}
