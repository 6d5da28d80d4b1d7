package redis

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/weirlimits/weir/store"
)

//go:embed lua/add.lua
var addLua string

var addScript = newScript(addLua)

// What the script answers in place of a count.
const (
	countOverflow = -1
	countCorrupt  = -2
)

// Add implements [store.Counter]. A counter that somebody left without a TTL is given
// one: it would otherwise count for ever.
func (s *Store) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
	if err := store.CheckTTL(ttl, maxTTL); err != nil {
		return 0, fmt.Errorf("redis: add: %w", err)
	}
	// Beyond these bounds the result is the same, and Lua is exact.
	delta = max(-maxCounter, min(delta, maxCounter+1))
	count, err := asInt(s.run(ctx, addScript, key, delta, px(ttl), int64(maxCounter)))
	switch {
	case err != nil:
	case count == countOverflow:
		err = store.ErrOverflow
	case count == countCorrupt:
		err = store.ErrCorrupt
	case count < 0:
		err = fmt.Errorf("%w: a count of %d", store.ErrGarbled, count)
	}
	if err != nil {
		return 0, fmt.Errorf("redis: add: %w", err)
	}
	return count, nil
}

// Read implements [store.Counter]. The keys may be in any slots. They are read by GET,
// since MGET takes a key of another type for a missing one.
func (s *Store) Read(ctx context.Context, keys ...string) ([]int64, error) {
	if err := s.ready(ctx); err != nil {
		return nil, fmt.Errorf("redis: read: %w", err)
	}
	cmds := make([]once, len(keys))
	for i, key := range keys {
		cmds[i] = command(ctx, "get", key)
	}
	counts := make([]int64, len(keys))
	for i, a := range s.ask(ctx, cmds) {
		if a.err == nil && a.value != nil {
			counts[i], a.err = parseCount(a.value)
		}
		if a.err != nil {
			return nil, fmt.Errorf("redis: read: %w", a.err)
		}
	}
	return counts, nil
}

func parseCount(value any) (int64, error) {
	text, ok := value.(string)
	if !ok {
		return 0, garbled(value)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > maxCounter {
		return 0, store.ErrCorrupt
	}
	return n, nil
}
