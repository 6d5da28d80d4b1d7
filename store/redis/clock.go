package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/weirlimits/weir/store"
)

// Now implements [store.Clock] by TIME. The nodes of a cluster have a clock each: Now
// tells one of them, and each key is decided by its own node's.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	reply, err := s.one(ctx, "time")
	var now time.Time
	if err == nil {
		now, err = parseTime(reply)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("redis: time: %w", err)
	}
	return now, nil
}

func parseTime(reply any) (time.Time, error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) != 2 {
		return time.Time{}, garbled(reply)
	}
	var n [2]int64
	for i, part := range parts {
		text, _ := part.(string)
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("%w: a time of %v", store.ErrGarbled, parts)
		}
		n[i] = v
	}
	return time.Unix(n[0], n[1]*int64(time.Microsecond)), nil
}

// Size implements [store.Footprint] by MEMORY USAGE over all of the key's elements: the
// key, its value and its entry in the key table, without the one in the table of TTLs.
func (s *Store) Size(ctx context.Context, key string) (int64, error) {
	reply, err := s.one(ctx, "memory", "usage", key, "samples", 0)
	if err == nil && reply == nil {
		return 0, nil
	}
	n, err := asInt(reply, err)
	if err != nil {
		return 0, fmt.Errorf("redis: size: %w", err)
	}
	return n, nil
}
