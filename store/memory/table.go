package memory

import (
	"hash/maphash"
	"strings"
	"sync"
	"unsafe"

	"github.com/weirlimits/weir/store"
)

const (
	shardCount = 256
	chunkSize  = 64 // entries allocated at once, and so never moved
	sweepSlice = 512
)

// table holds the keys of one space.
type table struct {
	core   *core
	space  string
	step   store.Func // tells whether a key is blocked; nil in the raw table
	seed   maphash.Seed
	shards [shardCount]shard
}

func newTable(c *core, space string, step store.Func) *table {
	t := &table{core: c, space: space, step: step, seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].table = t
	}
	return t
}

func (t *table) shard(key string) *shard {
	return &t.shards[maphash.String(t.seed, key)%shardCount]
}

func (t *table) clear() {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		t.core.count.Add(-int64(len(sh.index)))
		sh.index, sh.chunks, sh.free, sh.used, sh.hand = nil, nil, nil, 0, 0
		sh.mu.Unlock()
	}
}

// shard is a part of a table under one lock: an index into entries that lie in chunks
// and are not moved while in use.
type shard struct {
	mu      sync.Mutex
	table   *table
	index   map[string]uint32
	chunks  []*[chunkSize]entry
	free    []uint32   // entries given back
	used    uint32     // entries ever handed out
	hand    uint32     // where the search for keys to free goes on
	asked   store.Args // of the latest new key: under which limit a key is blocked
	known   bool       // whether asked is set
	scratch [inlineSize]byte
	_       [64]byte // keeps neighbours off one cache line
}

type kind uint8

const (
	kindNone kind = iota // free
	kindValue
	kindCounter
	kindList
	kindSet
)

const inlineSize = 16

// entry is one key. Short values lie in it, long ones and collections beside it.
type entry struct {
	key     string
	expires int64 // microseconds of the store's clock
	ext     *extension
	inline  [inlineSize]byte
	size    uint8 // of the inline value
	kind    kind
}

type extension struct {
	bytes []byte
	list  []string // oldest first
	set   *sortedSet
}

func (e *entry) value() []byte {
	if e.ext != nil {
		return e.ext.bytes
	}
	return e.inline[:e.size]
}

// setValue keeps v, which may be the entry's own bytes.
func (e *entry) setValue(v []byte) {
	e.kind = kindValue
	if len(v) <= inlineSize {
		e.size = uint8(copy(e.inline[:], v))
		e.ext = nil
		return
	}
	if e.ext == nil {
		e.ext = new(extension)
	}
	*e.ext = extension{bytes: v}
}

func (sh *shard) at(i uint32) *entry { return &sh.chunks[i/chunkSize][i%chunkSize] }

// lookup returns the key's entry, nil if there is none, and whether it is live.
func (sh *shard) lookup(key string, now int64) (e *entry, live bool) {
	i, ok := sh.index[key]
	if !ok {
		return nil, false
	}
	e = sh.at(i)
	return e, e.expires > now
}

// insert returns a new entry, or nil where the store is full.
func (sh *shard) insert(key string, now int64) *entry {
	c := sh.table.core
	if c.count.Add(1) > c.maxKeys && !sh.freeOne(now, sweepSlice) { // counted before it is there
		c.count.Add(-1)
		return nil
	}
	var i uint32
	if n := len(sh.free); n > 0 {
		i = sh.free[n-1]
		sh.free = sh.free[:n-1]
	} else {
		i = sh.grow()
	}
	if sh.index == nil {
		sh.index = make(map[string]uint32)
	}
	key = strings.Clone(key) // the caller's may be a part of something large
	sh.index[key] = i
	e := sh.at(i)
	e.key, e.kind = key, kindValue
	return e
}

func (sh *shard) remove(i uint32) {
	e := sh.at(i)
	delete(sh.index, e.key)
	*e = entry{}
	sh.free = append(sh.free, i)
	sh.table.core.count.Add(-1)
}

// blocked tells whether the entry's next request of cost 1 would be denied.
func (sh *shard) blocked(e *entry, now int64) bool {
	if e.kind != kindValue || sh.table.step == nil || !sh.known {
		return true // what it is to its owner cannot be told
	}
	peek := sh.asked
	peek.Cost = 0
	if peek.OwnTime {
		peek.Now = now
	}
	res := sh.table.step(e.value(), peek)
	return res.Corrupt || res.Reply.Remaining == 0
}

// freeOne frees an expired or unblocked key among the next steps entries.
func (sh *shard) freeOne(now int64, steps uint32) bool {
	for range min(steps, sh.used) {
		i := sh.hand
		if sh.hand++; sh.hand >= sh.used {
			sh.hand = 0
		}
		if e := sh.at(i); e.kind != kindNone && (e.expires <= now || !sh.blocked(e, now)) {
			sh.remove(i)
			return true
		}
	}
	return false
}

// compact gives memory back after a flood: once all entries are free, or three
// quarters of many.
func (sh *shard) compact() {
	if sh.used == 0 || len(sh.index) > 0 && (sh.used < 4*chunkSize || len(sh.index) > int(sh.used)/4) {
		return
	}
	old, used := sh.chunks, sh.used
	sh.index = make(map[string]uint32, len(sh.index))
	sh.chunks, sh.free, sh.used, sh.hand = nil, nil, 0, 0
	for i := range used {
		if e := &old[i/chunkSize][i%chunkSize]; e.kind != kindNone {
			j := sh.grow()
			*sh.at(j) = *e
			sh.index[e.key] = j
		}
	}
}

// grow hands out an entry that was never used.
func (sh *shard) grow() uint32 {
	i := sh.used
	if int(i) == len(sh.chunks)*chunkSize {
		sh.chunks = append(sh.chunks, new([chunkSize]entry))
	}
	sh.used++
	return i
}

// slotBytes is a key's share of the index: its string and number, at a mean load of 7/8
// halved by growth.
const slotBytes = 32

// bytes accounts for all that the entry takes.
func (e *entry) bytes() int64 {
	n := int64(unsafe.Sizeof(*e)) + int64(len(e.key)) + slotBytes
	if e.ext != nil {
		n += int64(unsafe.Sizeof(*e.ext)) + int64(cap(e.ext.bytes))
		for _, s := range e.ext.list {
			n += int64(unsafe.Sizeof(s)) + int64(len(s))
		}
		if e.ext.set != nil {
			n += e.ext.set.bytes()
		}
	}
	return n
}
