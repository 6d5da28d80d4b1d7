package peers

import (
	"context"
	"time"

	"go.uber.org/ratelimit"
)

var uberRatelimit = Entry{
	Name: "uber/ratelimit", Module: "go.uber.org/ratelimit", Algorithm: "leaky bucket that waits, one for each key in a sync.Map",
	Store: Memory, Cannot: []string{CannotDeny, CannotCost, CannotPeek, CannotRetry, CannotForget},
	open: func(c Config) (Peer, error) {
		options := []ratelimit.Option{ratelimit.Per(c.Limit.Window)}
		if c.Clock != nil {
			options = append(options, ratelimit.WithClock(waiting{c.Clock}))
		}
		return &uberLimiter{perKey[ratelimit.Limiter]{create: func() ratelimit.Limiter {
			return ratelimit.New(int(c.Limit.Count), options...)
		}}}, nil
	},
}

// waiting is a clock that others move: whoever sleeps by it looks when the time has come.
type waiting struct{ now func() time.Time }

func (w waiting) Now() time.Time { return w.now() }

func (w waiting) Sleep(d time.Duration) {
	for end := w.now().Add(d); w.now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

type uberLimiter struct{ perKey[ratelimit.Limiter] }

func (u *uberLimiter) Take(ctx context.Context, key string, n int64) (Answer, error) {
	if n == 0 {
		return Answer{}, unsupported(CannotPeek)
	}
	if n != 1 {
		return Answer{}, unsupported(CannotCost)
	}
	u.of(key).Take()
	return Answer{Allowed: true, Remaining: Unknown}, ctx.Err()
}

func (u *uberLimiter) Reset(_ context.Context, key string) error {
	u.forget(key)
	return nil
}

func (u *uberLimiter) Close() error {
	u.close()
	return nil
}
