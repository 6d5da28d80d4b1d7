package peers

import (
	"context"

	"github.com/go-redis/redis_rate/v10"

	"github.com/weirlimits/weir"
)

var redisRate = Entry{
	Name: "redis_rate", Module: "github.com/go-redis/redis_rate/v10", Algorithm: "GCRA in a script, in floats",
	Store: Redis, Cannot: []string{CannotClock},
	open: func(c Config) (Peer, error) {
		return &scripted{redis_rate.NewLimiter(c.Redis), rateOf(c.Limit)}, nil
	},
}

func rateOf(l weir.Limit) redis_rate.Limit {
	return redis_rate.Limit{Rate: int(l.Count), Burst: int(l.Count), Period: l.Window}
}

type scripted struct {
	limiter *redis_rate.Limiter
	limit   redis_rate.Limit
}

func (s *scripted) Take(ctx context.Context, key string, n int64) (Answer, error) {
	r, err := s.limiter.AllowN(ctx, key, s.limit, int(n))
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Allowed: n == 0 || r.Allowed > 0, Remaining: int64(r.Remaining)}
	if !a.Allowed {
		a.RetryAfter = r.RetryAfter
	}
	return a, nil
}

func (s *scripted) Reset(ctx context.Context, key string) error { return s.limiter.Reset(ctx, key) }

func (s *scripted) Close() error { return nil }
