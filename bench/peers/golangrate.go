package peers

import (
	"context"
	"math"
	"time"

	"golang.org/x/time/rate"
)

var golangRate = Entry{
	Name: "x/time/rate", Module: "golang.org/x/time", Algorithm: "token bucket, one for each key in a sync.Map",
	Store: Memory, Cannot: []string{CannotForget},
	open: func(c Config) (Peer, error) {
		every, burst := rate.Limit(float64(c.Limit.Count)/c.Limit.Window.Seconds()), int(c.Limit.Count)
		now := c.Clock
		if now == nil {
			now = time.Now
		}
		return &golangLimiter{
			perKey: perKey[*rate.Limiter]{create: func() *rate.Limiter { return rate.NewLimiter(every, burst) }}, now: now,
		}, nil
	},
}

type golangLimiter struct {
	perKey[*rate.Limiter]
	now func() time.Time
}

func (g *golangLimiter) Take(_ context.Context, key string, n int64) (Answer, error) {
	l, now := g.of(key), g.now()
	if l.AllowN(now, int(n)) {
		return Answer{Allowed: true, Remaining: remaining(l, now)}, nil
	}
	a := Answer{Remaining: remaining(l, now), RetryAfter: math.MaxInt64}
	if int(n) <= l.Burst() {
		missing := float64(n) - l.TokensAt(now)
		a.RetryAfter = time.Duration(math.Ceil(missing / float64(l.Limit()) * float64(time.Second)))
	}
	return a, nil
}

func remaining(l *rate.Limiter, now time.Time) int64 { return max(0, int64(l.TokensAt(now))) }

func (g *golangLimiter) Reset(_ context.Context, key string) error {
	g.forget(key)
	return nil
}

func (g *golangLimiter) Close() error {
	g.close()
	return nil
}
