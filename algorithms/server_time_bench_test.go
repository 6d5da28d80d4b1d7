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

// BenchmarkServerTime tells how long a decision occupies Redis, by the server's own
// count, with a full log: us/decision where one leaves as one comes, us/denied, and
// us/all-expired for one decision after which all is gone but one.
func BenchmarkServerTime(b *testing.B) {
	client := goredis.NewClient(&goredis.Options{Addr: servertest.Redis(b).Addr})
	b.Cleanup(func() { _ = client.Close() })
	st := redis.New(client, nil)
	for _, a := range []weir.Algorithm{
		algorithms.PackedLog(nil), algorithms.PackedLog(&algorithms.PackedLogOptions{Error: .125}),
		algorithms.BucketedWindow(nil), algorithms.GCRA(nil), algorithms.RingLog(nil), algorithms.SlidingLog(),
	} {
		for _, limit := range []int64{100, 1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("algorithm=%s/limit=%d", a, limit), func(b *testing.B) {
				clock := newSimClock(epoch)
				l, err := weir.New(a, weir.Limit{Count: limit, Window: time.Minute}, st, &weir.Options{Clock: clock.Now})
				require.NoError(b, err)
				ctx := context.Background()
				take := func() weir.Decision {
					d, err := l.Take(ctx, "k", 1)
					require.NoError(b, err)
					return d
				}
				step := 60_000_000 / limit
				for range limit {
					take()
					clock.us.Add(step)
				}
				server := serverTime(b, client)
				for b.Loop() {
					take()
					clock.us.Add(step)
				}
				server.report(b, "us/decision")
				server = serverTime(b, client)
				for range 500 {
					clock.us.Add(-step) // so that the oldest has not left yet
					take()
					clock.us.Add(step)
				}
				server.report(b, "us/denied")
				clock.us.Add(59_999_000)
				server = serverTime(b, client)
				take()
				server.report(b, "us/all-expired")
				require.NoError(b, l.Reset(ctx, "k"))
			})
		}
	}
}

// usage is what Redis has counted for scripts.
type usage struct {
	client      *goredis.Client
	calls, usec float64
}

func serverTime(b *testing.B, client *goredis.Client) usage {
	u := usage{client: client}
	for line := range strings.Lines(client.Info(context.Background(), "commandstats").Val()) {
		var calls, usec float64
		if _, err := fmt.Sscanf(line, "cmdstat_evalsha:calls=%f,usec=%f", &calls, &usec); err == nil {
			u.calls, u.usec = calls, usec
		}
	}
	return u
}

func (u usage) report(b *testing.B, unit string) {
	now := serverTime(b, u.client)
	b.ReportMetric((now.usec-u.usec)/(now.calls-u.calls), unit)
}
