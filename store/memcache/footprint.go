package memcache

import (
	"context"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
)

// What memcached 1.6 keeps beside an item's key and value on a 64-bit machine
// (item and item_chunk in its memcached.h), in bytes.
const (
	itemHeader  = 48
	casID       = 8
	keyEnd      = 1 // NUL
	valueEnd    = 2 // CRLF
	flagsField  = 4 // only where the flags are not zero
	chunkHeader = 48
)

// Size implements [store.Footprint]: the bytes of the slab chunks that the item
// occupies. Memcached does not tell them, so they are computed from the item's length
// as its item_make_header and do_item_alloc do, and from the chunk sizes that the
// server lists; an item above slab_chunk_max is a header and several chunks. The key
// table (a pointer per bucket) is not included. A server without slabs, which refuses
// "stats slabs", is taken to need the item's own bytes.
//
// It opens a short connection of its own for each new size of item.
func (c *core) Size(ctx context.Context, key string) (int64, error) {
	name := wireKey(key)
	return do(ctx, c, "size", func(client *gomemcache.Client) (int64, error) {
		item, err := getOne(client, name)
		if item == nil {
			return 0, err
		}
		addr, err := c.selector.PickServer(name)
		if err != nil {
			return 0, err
		}
		s := itemShape{key: len(name), value: len(item.Value), flags: item.Flags != 0}
		return c.slabs.size(s, addr.String(), func() (*slabTable, error) { return askSlabs(ctx, client, addr) })
	})
}

type itemShape struct {
	key, value int
	flags      bool
}

// pieces returns the bytes of each chunk that the item needs.
func (s itemShape) pieces(t *slabTable) []int {
	head := itemHeader + s.key + keyEnd
	if t.cas {
		head += casID
	}
	if s.flags {
		head += flagsField
	}
	data := s.value + valueEnd
	if t.chunkMax == 0 || head+data <= t.chunkMax {
		return []int{head + data}
	}
	pieces := []int{head + chunkHeader}
	for room := t.chunkMax - chunkHeader; data > 0; data -= room {
		pieces = append(pieces, chunkHeader+min(data, room))
	}
	return pieces
}
