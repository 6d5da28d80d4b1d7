package memcache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"

	"github.com/weirlimits/weir/store"
)

// Load implements [store.Swapper]. The version is the item's CAS id.
func (s *Store) Load(ctx context.Context, key string) ([]byte, store.Version, error) {
	type state struct {
		value   []byte
		version store.Version
	}
	name := wireKey(key)
	st, err := do(ctx, s.core, "load", func(client *gomemcache.Client) (state, error) {
		item, err := getOne(client, name)
		if item == nil {
			return state{}, err
		}
		if item.CasID == 0 {
			return state{}, fmt.Errorf("%w: the server gives no CAS ids (memcached -C): use its counter only", errors.ErrUnsupported)
		}
		return state{item.Value, versionOf(item.CasID)}, nil
	})
	return st.value, st.version, err
}

// Swap implements [store.Swapper] in one round trip, by cas, or by add where version
// is empty.
func (s *Store) Swap(ctx context.Context, key string, version store.Version, value []byte, ttl time.Duration) (bool, error) {
	item, err := s.swapItem(key, version, value, ttl)
	if err != nil {
		return false, fmt.Errorf("memcache: swap: %w", err)
	}
	if s.pool == nil {
		item.Value = bytes.Clone(value) // the call may outlive its caller
	}
	return do(ctx, s.core, "swap", func(client *gomemcache.Client) (bool, error) {
		send := client.CompareAndSwap
		if version == "" {
			send = client.Add
		}
		err := send(item)
		if errors.Is(err, gomemcache.ErrCASConflict) || errors.Is(err, gomemcache.ErrNotStored) || isMiss(err) {
			return false, nil
		}
		return err == nil, err
	})
}

func (s *Store) swapItem(key string, version store.Version, value []byte, ttl time.Duration) (*gomemcache.Item, error) {
	if err := store.CheckTTL(ttl, s.maxTTL); err != nil {
		return nil, err
	}
	if len(value) > maxValue {
		return nil, fmt.Errorf("value of %d bytes: want at most %d", len(value), maxValue)
	}
	if len(version) != 0 && len(version) != 8 {
		return nil, fmt.Errorf("version of %d bytes: want one that Load returned", len(version))
	}
	expiration, err := exptime(ttl, time.Now())
	if err != nil {
		return nil, err
	}
	item := &gomemcache.Item{Key: wireKey(key), Value: value, Expiration: expiration}
	if version != "" {
		item.CasID = binary.BigEndian.Uint64([]byte(version))
	}
	return item, nil
}

func versionOf(casID uint64) store.Version {
	return store.Version(binary.BigEndian.AppendUint64(nil, casID))
}
