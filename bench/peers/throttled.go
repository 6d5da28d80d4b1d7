package peers

import (
	"context"
	"time"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/throttled/throttled/v2/store/memstore"
)

var (
	throttledMemory = Entry{
		Name: "throttled", Module: throttledModule, Algorithm: "GCRA",
		Store: Memory, Cannot: []string{CannotReset, CannotForget},
		open: func(c Config) (Peer, error) {
			st, err := memstore.NewCtx(0)
			if err != nil {
				return nil, err
			}
			return newThrottled(st, c)
		},
	}
	throttledRedis = Entry{
		Name: "throttled", Module: throttledModule, Algorithm: "GCRA by compare-and-swap",
		Store: Redis, Cannot: []string{CannotReset},
		open: func(c Config) (Peer, error) {
			st, err := goredisstore.NewCtx(c.Redis, throttledPrefix)
			if err != nil {
				return nil, err
			}
			return newThrottled(st, c)
		},
	}
)

const (
	throttledModule = "github.com/throttled/throttled/v2"
	throttledPrefix = "throttled:"
)

func newThrottled(st throttled.GCRAStoreCtx, c Config) (Peer, error) {
	if c.Clock != nil {
		st = timed{st, c.Clock}
	}
	l, err := throttled.NewGCRARateLimiterCtx(st, throttled.RateQuota{
		MaxRate:  throttled.PerDuration(int(c.Limit.Count), c.Limit.Window),
		MaxBurst: int(c.Limit.Count) - 1,
	})
	return &gcra{l}, err
}

// timed is a store of throttled's, by another clock: the store is where throttled asks for the time.
type timed struct {
	throttled.GCRAStoreCtx
	now func() time.Time
}

func (t timed) GetWithTime(ctx context.Context, key string) (int64, time.Time, error) {
	tat, _, err := t.GCRAStoreCtx.GetWithTime(ctx, key)
	return tat, t.now(), err
}

type gcra struct{ limiter *throttled.GCRARateLimiterCtx }

func (g *gcra) Take(ctx context.Context, key string, n int64) (Answer, error) {
	limited, r, err := g.limiter.RateLimitCtx(ctx, key, int(n))
	a := Answer{Allowed: !limited, Remaining: int64(r.Remaining)}
	if limited {
		a.RetryAfter = r.RetryAfter
	}
	return a, err
}

func (g *gcra) Reset(context.Context, string) error { return unsupported(CannotReset) }

func (g *gcra) Close() error { return nil }
