package memcache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"

	"github.com/weirlimits/weir/store"
)

// attempts bounds how often an addition may find its key gone and then there again.
const attempts = 16

// exactUndo is the delta above which an addition is given back modulo 2^64.
const exactUndo = 1 << 32

// Add implements [store.Counter]. One that exists costs one round trip, a new one two.
//
// The server adds modulo 2^64 and knows no largest count, so an addition that passes
// it is made, seen and given back: for that instant other callers can get
// [store.ErrOverflow] too, and Read returns the largest count. A delta of zero creates
// no counter.
func (c *core) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
	if delta > 0 {
		if err := store.CheckTTL(ttl, c.maxTTL); err != nil {
			return 0, fmt.Errorf("memcache: add: %w", err)
		}
	}
	name := wireKey(key)
	return do(ctx, c, "add", func(client *gomemcache.Client) (int64, error) {
		if delta < 0 {
			n, err := apply(client, client.Decrement, name, -uint64(delta))
			return count(n), ignoreMiss(err)
		}
		return increase(ctx, client, name, uint64(delta), ttl)
	})
}

// increase adds to the counter, or creates it. Between a miss and the creation
// another caller may create it, and the server may evict that again.
func increase(ctx context.Context, client *gomemcache.Client, name string, delta uint64, ttl time.Duration) (int64, error) {
	for range attempts {
		n, err := apply(client, client.Increment, name, delta)
		switch {
		case err == nil && n <= math.MaxInt64 && n >= delta:
			return int64(n), nil
		case err == nil:
			return 0, undo(client, name, delta, n < delta)
		case !isMiss(err):
			return 0, err
		case delta == 0:
			return 0, nil
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}

		expiration, err := exptime(ttl, time.Now())
		if err != nil {
			return 0, err
		}
		err = client.Add(&gomemcache.Item{
			Key: name, Value: strconv.AppendUint(nil, delta, 10), Expiration: expiration,
		})
		if !errors.Is(err, gomemcache.ErrNotStored) {
			return int64(delta), err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	return 0, store.ErrContended
}

// undo gives back an addition that passed the largest count and returns the error to
// report. decr stops at zero, so it does no harm if the key was evicted and created anew
// since; but after a sum that wrapped, or could with a few more as large, only adding the
// delta's complement to 2^64 takes exactly delta away.
func undo(client *gomemcache.Client, name string, delta uint64, wrapped bool) error {
	var err error
	if wrapped || delta > exactUndo {
		_, err = apply(client, client.Increment, name, -delta)
	} else {
		_, err = apply(client, client.Decrement, name, delta)
	}
	if ignoreMiss(err) != nil {
		return fmt.Errorf("giving back what passed the largest count: %w", err)
	}
	return store.ErrOverflow
}

// apply calls Increment or Decrement. The client panics on a reply line that is too
// short, and then keeps the connection, which may hold more of the same.
func apply(client *gomemcache.Client, f func(string, uint64) (uint64, error), name string, delta uint64) (n uint64, err error) {
	defer func() {
		if p := recover(); p != nil {
			_ = client.Close()
			n, err = 0, fmt.Errorf("%w: the client could not read it: %v", store.ErrGarbled, p)
		}
	}()
	return f(name, delta)
}

// Read implements [store.Counter]. With several servers it makes one round trip to
// each, all at once.
func (c *core) Read(ctx context.Context, keys ...string) ([]int64, error) {
	names := wireKeys(keys)
	return do(ctx, c, "read", func(client *gomemcache.Client) ([]int64, error) {
		items, err := get(client, names)
		if err != nil {
			return nil, err
		}
		counts := make([]int64, len(names))
		for i, name := range names {
			if item := items[name]; item != nil {
				if counts[i], err = parseCount(item.Value); err != nil {
					return nil, err
				}
			}
		}
		return counts, nil
	})
}

func get(client *gomemcache.Client, names []string) (map[string]*gomemcache.Item, error) {
	switch len(names) {
	case 0:
		return nil, nil
	case 1:
		item, err := getOne(client, names[0])
		return map[string]*gomemcache.Item{names[0]: item}, err
	}
	return client.GetMulti(names)
}

// getOne returns nil for a missing key.
func getOne(client *gomemcache.Client, name string) (*gomemcache.Item, error) {
	item, err := client.Get(name)
	if err != nil {
		return nil, ignoreMiss(err)
	}
	if item.Key != name {
		return nil, fmt.Errorf("%w: the answer is for another key", store.ErrGarbled)
	}
	return item, nil
}

// parseCount reads a counter, which decr pads with blanks to its former length.
func parseCount(value []byte) (int64, error) {
	n, err := strconv.ParseUint(strings.TrimRight(string(value), " "), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q is no count", store.ErrCorrupt, value)
	}
	return count(n), nil
}

// count is n, or the largest count where an addition that passed it is not yet given back.
func count(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func ignoreMiss(err error) error {
	if isMiss(err) {
		return nil
	}
	return err
}
