package algorithms_test

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/redis"
)

// Most writes leave the TTL that the key has: it must outlive what they add.
func TestAKeptTTLOutlivesTheState(t *testing.T) {
	t.Parallel()
	client := goredis.NewClient(&goredis.Options{Addr: servertest.Redis(t).Addr})
	defer client.Close()
	for _, a := range []weir.Algorithm{
		algorithms.GCRA(nil), algorithms.FixedWindow(), algorithms.FixedWindowFirstHit(), algorithms.SlidingCounter(),
		algorithms.BucketedWindow(nil),
	} {
		t.Run(a.Name(), func(t *testing.T) {
			limiter, err := weir.New(a, weir.Limit{Count: 1000, Window: 160 * time.Millisecond}, redis.New(client, nil), nil)
			require.NoError(t, err)
			for i := range 150 {
				asked := time.Now()
				d, err := limiter.Take(t.Context(), "k", 20)
				require.NoError(t, err)
				ttl, err := client.PTTL(t.Context(), limiter.Keys("k")[0]).Result()
				require.NoError(t, err)
				require.GreaterOrEqual(t, max(ttl, 0)+time.Since(asked), d.ResetAfter, "request %d: %+v", i, d)
			}
		})
	}
}
