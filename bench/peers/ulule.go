package peers

import (
	"context"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"github.com/ulule/limiter/v3/drivers/store/redis"
)

var (
	ululeMemory = Entry{
		Name: "ulule", Module: ululeModule, Algorithm: ululeAlgorithm,
		Store: Memory, Cannot: []string{CannotClock},
		open: func(c Config) (Peer, error) { return newUlule(memory.NewStore(), c), nil },
	}
	ululeRedis = Entry{
		Name: "ulule", Module: ululeModule, Algorithm: ululeAlgorithm,
		Store: Redis, Cannot: []string{CannotClock},
		open: func(c Config) (Peer, error) {
			st, err := redis.NewStore(c.Redis)
			return newUlule(st, c), err
		},
	}
)

const (
	ululeModule    = "github.com/ulule/limiter/v3"
	ululeAlgorithm = "fixed window, from the first request; denied requests count"
)

func newUlule(st limiter.Store, c Config) Peer {
	return &counting{limiter.New(st, limiter.Rate{Period: c.Limit.Window, Limit: c.Limit.Count})}
}

type counting struct{ limiter *limiter.Limiter }

func (u *counting) Take(ctx context.Context, key string, n int64) (a Answer, err error) {
	var state limiter.Context
	switch n {
	case 0:
		state, err = u.limiter.Peek(ctx, key)
		return Answer{Allowed: true, Remaining: state.Remaining}, err
	case 1:
		state, err = u.limiter.Get(ctx, key)
	default:
		state, err = u.limiter.Increment(ctx, key, n)
	}
	a = Answer{Allowed: !state.Reached, Remaining: state.Remaining}
	if state.Reached { // it tells the end of the window in whole seconds of the process's clock
		a.RetryAfter = max(0, time.Until(time.Unix(state.Reset, 0)))
	}
	return a, err
}

func (u *counting) Reset(ctx context.Context, key string) error {
	_, err := u.limiter.Reset(ctx, key)
	return err
}

func (u *counting) Close() error { return nil }
