package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirlimits/weir/store"
)

//go:embed lua/swap.lua
var swapLua string

var swapScript = newScript(swapLua)

// versionMark begins the version of a key that exists, and the value follows: "still at
// version" means the same bytes. Somebody may have changed the value and changed it
// back in between. That does no harm, since what the caller computed from the bytes is
// what it would compute from them now.
const versionMark = "v"

// Load implements [store.Swapper].
func (s *Store) Load(ctx context.Context, key string) ([]byte, store.Version, error) {
	value, err := s.one(ctx, "get", key)
	if err == nil && value == nil {
		return nil, "", nil
	}
	text, ok := value.(string)
	if err == nil && !ok {
		err = garbled(value)
	}
	if err != nil {
		return nil, "", fmt.Errorf("redis: load: %w", err)
	}
	return []byte(text), store.Version(versionMark + text), nil
}

// Swap implements [store.Swapper]. Nothing is stored where the key is of another type.
func (s *Store) Swap(ctx context.Context, key string, version store.Version, value []byte, ttl time.Duration) (bool, error) {
	swapped, err := s.swap(ctx, key, version, value, ttl)
	if err != nil {
		return false, fmt.Errorf("redis: swap: %w", err)
	}
	return swapped, nil
}

func (s *Store) swap(ctx context.Context, key string, version store.Version, value []byte, ttl time.Duration) (bool, error) {
	if err := store.CheckTTL(ttl, maxTTL); err != nil {
		return false, err
	}
	if len(value) > maxValue {
		return false, fmt.Errorf("a value of %d bytes: want at most %d", len(value), maxValue)
	}
	next := string(value) // a copy: the client may still send when the deadline has passed
	if version == "" {
		reply, err := s.one(ctx, "set", key, next, "nx", "px", px(ttl))
		if err != nil || reply == nil {
			return false, err
		}
		if reply != "OK" {
			return false, garbled(reply)
		}
		return true, nil
	}
	old, ok := strings.CutPrefix(string(version), versionMark)
	if !ok {
		return false, errors.New("version: want one that Load returned")
	}
	n, err := asInt(s.run(ctx, swapScript, key, old, next, px(ttl)))
	if err == nil && n != 0 && n != 1 {
		err = fmt.Errorf("%w: swapped=%d", store.ErrGarbled, n)
	}
	return n == 1, err
}
