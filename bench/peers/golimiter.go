package peers

import (
	"context"
	"time"

	limiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
)

var goLimiter = Entry{
	Name: "go-limiter", Module: "github.com/sethvargo/go-limiter", Algorithm: "fixed window, from the first request",
	Store: Memory, Cannot: []string{CannotCost, CannotClock},
	open: func(c Config) (Peer, error) {
		tokens := uint64(c.Limit.Count)
		st, err := memorystore.New(&memorystore.Config{Tokens: tokens, Interval: c.Limit.Window})
		return &tokenStore{store: st, tokens: tokens, window: c.Limit.Window}, err
	},
}

type tokenStore struct {
	store  limiter.Store
	tokens uint64
	window time.Duration
}

func (s *tokenStore) Take(ctx context.Context, key string, n int64) (Answer, error) {
	switch n {
	case 0:
		tokens, remaining, err := s.store.Get(ctx, key)
		if tokens == 0 {
			remaining = s.tokens // it does not know the key
		}
		return Answer{Allowed: true, Remaining: int64(remaining)}, err
	case 1:
		_, remaining, reset, ok, err := s.store.Take(ctx, key)
		a := Answer{Allowed: ok, Remaining: int64(remaining)}
		if !ok {
			a.RetryAfter = time.Until(time.Unix(0, int64(reset)))
		}
		return a, err
	}
	return Answer{}, unsupported(CannotCost)
}

func (s *tokenStore) Reset(ctx context.Context, key string) error {
	return s.store.Set(ctx, key, s.tokens, s.window)
}

func (s *tokenStore) Close() error { return s.store.Close(context.Background()) }
