package backend

import (
	"context"

	goredis "github.com/redis/go-redis/v9"
)

const (
	// scanCount is how many keys the server looks at in one step, and so how long it
	// does nothing else: well under a millisecond.
	scanCount = 1000
	// passes bounds how often the keys are looked through. Another pass follows one that
	// found some: a command that its caller gave up may still have been on its way.
	passes = 5
)

// cleanup looks through all keys of every primary: there is no cheaper list.
func (h *redisHouse) cleanup(ctx context.Context, prefix string) (removed int, err error) {
	for range passes {
		found := 0
		err = h.each(ctx, func(c goredis.UniversalClient) error {
			n, err := sweep(ctx, c, prefix)
			found += n
			return err
		})
		removed += found
		if err != nil || found == 0 {
			break
		}
	}
	return removed, err
}

func sweep(ctx context.Context, c goredis.UniversalClient, prefix string) (removed int, err error) {
	var cursor uint64
	for {
		keys, next, err := c.Scan(ctx, cursor, prefix+"*", scanCount).Result()
		if err != nil {
			return removed, err
		}
		n, err := unlink(ctx, c, keys)
		removed += n
		if err != nil || next == 0 {
			return removed, err
		}
		cursor = next
	}
}

// unlink sends one command per key, in one round trip: keys of several slots may not
// stand in one command.
func unlink(ctx context.Context, c goredis.UniversalClient, keys []string) (removed int, err error) {
	if len(keys) == 0 {
		return 0, nil
	}
	replies, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, key := range keys {
			p.Unlink(ctx, key)
		}
		return nil
	})
	for _, reply := range replies {
		if n, ok := reply.(*goredis.IntCmd); ok {
			removed += int(n.Val())
		}
	}
	return removed, err
}
