package redis

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	goredis "github.com/redis/go-redis/v9"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
)

// BenchmarkBatch decides for many keys in one script: us/decision is the least that the
// server counted for a batch. A full log is one in which a
// request leaves for each that comes. These are the figures behind the steps' weights.
func BenchmarkBatch(b *testing.B) {
	st, err := Open("redis://"+servertest.Redis(b).Addr, nil)
	require.NoError(b, err)
	b.Cleanup(func() { _ = st.Close() })
	for _, c := range []struct {
		algorithm weir.Algorithm
		limit     int64
		full      bool
	}{
		{algorithms.FixedWindow(), 1_000_000, false},
		{algorithms.FixedWindowFirstHit(), 1_000_000, false},
		{algorithms.SlidingCounter(), 1_000_000, false},
		{algorithms.GCRA(nil), 1_000_000, false},
		{algorithms.GCRA(nil), 700_001, false},
		{algorithms.BucketedWindow(nil), 1_000_000, false},
		{algorithms.PackedLog(nil), 100, true},
		{algorithms.PackedLog(nil), 10_000, true},
		{algorithms.PackedLog(&algorithms.PackedLogOptions{Error: .125}), 10_000, true},
		{algorithms.RingLog(nil), 100, true},
		{algorithms.SlidingLog(), 100, true},
		{algorithms.SlidingLog(), 1_000, true},
	} {
		for _, size := range []int{1, 200} {
			b.Run(fmt.Sprintf("algorithm=%s/limit=%d/batch=%d", c.algorithm, c.limit, size), func(b *testing.B) {
				ctx := context.Background()
				limit := weir.Limit{Count: c.limit, Window: time.Minute}
				shape, err := c.algorithm.Shape(limit)
				require.NoError(b, err)
				r := st.prepare(shape.Plans[0].Step, fmt.Sprintf("%s/%d/%d/", c.algorithm, c.limit, size))
				now := time.Now().UnixMicro() - 3*time.Minute.Microseconds()
				batch := func() {
					batch := make([]*request, size)
					for i := range batch {
						args := store.Args{OwnTime: !c.full, Now: now, Cost: 1, Params: shape.Plans[0].Params}
						batch[i] = &request{runner: r, key: fmt.Sprintf("%skey-%d", r.space, i), args: args}
					}
					st.decide(ctx, batch, st.exchange)
					for _, q := range batch {
						require.NoError(b, q.err)
						require.True(b, q.reply.Allowed)
					}
					now += time.Minute.Microseconds()/min(c.limit, 1000) + 2000 // and a tick
				}
				for i := int64(0); c.full && i < min(c.limit, 1000); i++ {
					batch()
				}
				batch() // the server knows the script now
				least := math.Inf(1)
				for b.Loop() {
					_, before := scriptStats(b, st.client)
					batch()
					_, after := scriptStats(b, st.client)
					least = min(least, after-before)
				}
				b.ReportMetric(least/float64(size), "us/decision")
			})
		}
	}
}

// scriptStats is how many scripts the server has run, and how many microseconds that took.
func scriptStats(tb testing.TB, client goredis.UniversalClient) (calls, us float64) {
	stats, err := client.Info(context.Background(), "commandstats").Result()
	require.NoError(tb, err)
	for line := range strings.Lines(stats) {
		if n, _ := fmt.Sscanf(line, "cmdstat_evalsha:calls=%f,usec=%f", &calls, &us); n == 2 {
			break
		}
	}
	return calls, us
}
