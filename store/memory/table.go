package memory

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"github.com/weirlimits/weir/store"
)

const (
	shardBits  = 9
	shardCount = 1 << shardBits
)

// table holds the keys of one space.
type table struct {
	core   *core
	space  string
	step   store.Func // tells whether a key is blocked; nil in the raw table
	seed   maphash.Seed
	mask   uint64 // all ones; tests take bits away so that keys collide
	shards []shard
}

func newTable(c *core, space string, step store.Func) *table {
	t := &table{
		core: c, space: space, step: step, seed: maphash.MakeSeed(), mask: ^uint64(0),
		shards: make([]shard, shardCount),
	}
	for i := range t.shards {
		t.shards[i].table = t
	}
	return t
}

func (t *table) hash(key string) uint64 { return maphash.String(t.seed, key) & t.mask }

func (t *table) shard(hash uint64) *shard { return &t.shards[hash%shardCount] }

func (t *table) clear() {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		t.core.count.Add(-int64(sh.count))
		sh.reset()
		sh.mu.Unlock()
	}
}

// shard is a part of a table under one lock. It takes two cache lines, and a decision on
// a key that is there touches the first alone.
type shard struct {
	mu    sync.Mutex
	index index
	arena
	beside  *beside     // nil until something lies there
	asked   *store.Args // of the latest new key, in a store with a bound
	table   *table
	hand    place  // where the search for keys to free goes on
	count   uint32 // keys
	moves   uint32 // how often all records moved
	scratch [scratchSize]byte
}

// scratchSize is what a step may write for a new key before it must allocate.
const scratchSize = 16

// find returns the key's record, or none.
func (sh *shard) find(hash uint64, key string) (place, record) {
	x := sh.index
	if len(x) == 0 {
		return none, nil
	}
	tag := tagOf(hash)
	i := x.home(hash)
	for range x {
		b := &x[i]
		low, high := b.slots(tag)
		for ; low != 0; low &= low - 1 {
			p := b.places[bits.TrailingZeros64(low)/8&7]
			if r := sh.at(p); sh.isKey(r, key) {
				return p, r
			}
		}
		for ; high != 0; high &= high - 1 {
			p := b.places[8+bits.TrailingZeros64(high)/8&3]
			if r := sh.at(p); sh.isKey(r, key) {
				return p, r
			}
		}
		if b.high < passed {
			break
		}
		i = x.after(i)
	}
	return none, nil
}

// isKey compares the whole text.
func (sh *shard) isKey(r record, key string) bool {
	n := int(r[9])
	if n == longKey {
		return len(key) >= longKey && sh.extension(r).key == key
	}
	return n == len(key) && string(r[headBytes:headBytes+n]) == key
}

func (sh *shard) hashOf(r record) uint64 {
	if r[9] == longKey {
		return sh.table.hash(sh.extension(r).key)
	}
	return maphash.Bytes(sh.table.seed, r.keyBytes()) & sh.table.mask
}

func (sh *shard) extension(r record) *extension { return sh.beside.all[r.number()] }

// kindOf is what the record is to its owner.
func (sh *shard) kindOf(r record) kind {
	if k := r.kind(); k != kindBeside {
		return k
	}
	return sh.extension(r).kind
}

// value returns the bytes of a value or a counter.
func (sh *shard) value(r record) []byte {
	if r.kind() == kindBeside {
		return sh.extension(r).value
	}
	return r.state()
}

// slotBytes is a key's share of the index, which is from five to nine tenths full.
const slotBytes = 8

// bytes accounts for all that the record takes.
func (sh *shard) size(r record) int64 {
	n := int64(r.units())*unit + slotBytes
	if r.kind() == kindBeside {
		n += sh.extension(r).bytes()
	}
	return n
}
