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
	"github.com/weirlimits/weir/store/redis"
)

// What a client costs on Redis, all told: growth of used_memory over 1,000 keys of 16
// characters with their TTL, W = 60 s, after N admitted events evenly spread.
func TestBytesPerKeyOnRedis(t *testing.T) {
	client := goredis.NewClient(&goredis.Options{Addr: servertest.Redis(t).Addr})
	t.Cleanup(func() { _ = client.Close() })
	st := redis.New(client, nil)
	ctx := context.Background()
	used := func() (n int64) {
		for line := range strings.Lines(client.Info(ctx, "memory").Val()) {
			_, _ = fmt.Sscanf(line, "used_memory:%d", &n)
		}
		require.Positive(t, n)
		return n
	}
	for _, c := range []struct {
		algorithm   weir.Algorithm
		events      int64
		least, most float64
	}{
		{algorithms.PackedLog(nil), 100, 100, 380},
		{algorithms.PackedLog(nil), 1000, 1000, 1500},
		{algorithms.PackedLog(nil), 10_000, 10_000, 12_000},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Error: .125}), 100, 50, 200},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Error: .125}), 10_000, 50, 200},
		{algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: 60}), 100, 50, 420},
		{algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: 60}), 10_000, 50, 420},
		{algorithms.SlidingLog(), 1000, 100_000, 150_000},
	} {
		clock := newSimClock(epoch)
		l, err := weir.New(c.algorithm, weir.Limit{Count: c.events, Window: time.Minute}, st, &weir.Options{Clock: clock.Now})
		require.NoError(t, err)
		for range c.events {
			d, err := l.Take(ctx, "k", 1)
			require.NoError(t, err)
			require.True(t, d.Allowed)
			clock.us.Add(60_000_000 / c.events)
		}
		// Copies of the key, made by the server, are what so many clients would leave.
		pipe := client.Pipeline()
		copies := func(prefix string) {
			for i := range 1000 {
				pipe.Copy(ctx, l.Keys("k")[0], fmt.Sprintf("%s%015d", prefix, i), 0, false)
			}
			_, err := pipe.Exec(ctx)
			require.NoError(t, err)
		}
		copies("a") // the key table and the connection's buffers grow with these
		before := used()
		copies("b")
		bytes := float64(used()-before) / 1000
		t.Logf("%s after %d events: %.0f bytes per key", c.algorithm, c.events, bytes)
		require.LessOrEqual(t, bytes, c.most, "%s after %d events", c.algorithm, c.events)
		require.GreaterOrEqual(t, bytes, c.least, "%s after %d events", c.algorithm, c.events)
		require.NoError(t, client.FlushDB(ctx).Err()) // a server of the test's own
	}
}
