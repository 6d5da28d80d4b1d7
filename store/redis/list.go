package redis

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/weirlimits/weir/store"
)

//go:embed lua/push.lua
var pushLua string

var pushScript = newScript(pushLua)

// PushFront implements [store.List].
func (s *Store) PushFront(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
	if err := store.CheckTTL(ttl, maxTTL); err != nil {
		return 0, fmt.Errorf("redis: push: %w", err)
	}
	args := make([]any, 0, 1+len(values))
	args = append(args, px(ttl))
	for _, v := range values {
		args = append(args, v)
	}
	n, err := asInt(s.run(ctx, pushScript, key, args...))
	if err != nil {
		return 0, fmt.Errorf("redis: push: %w", err)
	}
	return n, nil
}

// Trim implements [store.List].
func (s *Store) Trim(ctx context.Context, key string, start, stop int64) error {
	reply, err := s.one(ctx, "ltrim", key, start, stop)
	if err == nil && reply != "OK" {
		err = garbled(reply)
	}
	if err != nil {
		return fmt.Errorf("redis: trim: %w", err)
	}
	return nil
}

// Index implements [store.List].
func (s *Store) Index(ctx context.Context, key string, i int64) (string, bool, error) {
	reply, err := s.one(ctx, "lindex", key, i)
	if err == nil && reply == nil {
		return "", false, nil
	}
	value, ok := reply.(string)
	if err == nil && !ok {
		err = garbled(reply)
	}
	if err != nil {
		return "", false, fmt.Errorf("redis: index: %w", err)
	}
	return value, true, nil
}

// Len implements [store.List].
func (s *Store) Len(ctx context.Context, key string) (int64, error) {
	n, err := asInt(s.one(ctx, "llen", key))
	if err != nil {
		return 0, fmt.Errorf("redis: len: %w", err)
	}
	return n, nil
}
