package memory

import (
	"hash/maphash"
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
	mu     sync.Mutex
	latest int64 // time of who held the lock last
	buckets
	table   *table
	beside  *beside     // nil until something lies there
	asked   *store.Args // of the latest new key, in a store with a bound
	hand    uint32      // the bucket where the search for keys to free goes on
	warm    byte        // of no meaning; see find
	scratch [scratchSize]byte
	_       [8]byte
}

// warmFrom is how many buckets of a shard are more than the processor's near caches hold.
const warmFrom = 64

// scratchSize is what a step may write for a new key before it must allocate.
const scratchSize = 16

// find returns the key's record, or none.
func (sh *shard) find(hash uint64, key string) (place, record) {
	if sh.n == 0 {
		return none, nil
	}
	want := shapeOf(hash, key)
	i := sh.home(hash)
	b := sh.bucket(i)
	if sh.n > warmFrom { // ask for all lines at once, and not for each when the one before has come
		sh.warm = b[64] | b[128] | b[192]
	}
	for range sh.n {
		for u, end := bucketHead, b.end(); u < end; {
			r := b.record(u)
			if r.shape()&(1<<stateShift-1) == want && sh.isKey(r, key) {
				return sh.join(i, u), r
			}
			u += r.units()
		}
		if b.passed() == 0 {
			break
		}
		i = sh.after(i)
		b = sh.bucket(i)
	}
	return none, nil
}

// isKey compares the whole text, where the shape is the same.
func (sh *shard) isKey(r record, key string) bool {
	if len(key) >= longKey {
		return sh.extension(r).key == key
	}
	return string(r[headBytes:headBytes+len(key)]) == key
}

func (sh *shard) hashOf(r record) uint64 {
	if r.isLong() {
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

// size accounts for all that the record takes: itself, its share of what is free in a
// table of more than a few keys, and what lies beside it.
func (sh *shard) size(r record) int64 {
	n := int64(r.units() * unit)
	n = min(n*int64(len(sh.bytes))/int64(sh.used*unit), n*3/2)
	if r.kind() == kindBeside {
		n += sh.extension(r).bytes()
	}
	return n
}
