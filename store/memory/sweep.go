package memory

import (
	"math"
	"sync"
	"time"

	"github.com/weirlimits/weir/store"
)

// sweepLoop frees expired keys until the store is closed.
func (c *core) sweepLoop() {
	defer c.swept.Done()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-tick.C:
			c.sweep()
		}
	}
}

// Sweep frees all keys that have expired. The store does so itself once a second;
// tests in simulated time call it.
func (s *Store) Sweep() { s.sweep() }

func (c *core) sweep() {
	for _, t := range *c.spaces.Load() {
		for i := range t.shards {
			if c.closed.Load() {
				return
			}
			t.shards[i].sweep(c.now())
		}
	}
}

// sweepSlice is how many buckets are looked at under one hold of a shard's lock.
const sweepSlice = 64

// sweep holds the lock for one slice at a time, so that callers wait microseconds. What
// moves meanwhile is met at the next sweep.
func (sh *shard) sweep(now int64) {
	for from := uint32(0); ; from += sweepSlice {
		sh.mu.Lock()
		for i := from; i < min(from+sweepSlice, sh.n); i++ {
			b := sh.bucket(i)
			for u := bucketHead; u < b.end(); {
				r := b.record(u)
				if r.expires() <= now {
					sh.remove(sh.join(i, u))
					continue
				}
				u += r.units()
			}
		}
		if from+sweepSlice >= sh.n {
			sh.compact()
			sh.mu.Unlock()
			return
		}
		sh.mu.Unlock()
	}
}

// blocked tells whether the record's next request of cost 1 would be denied.
func (sh *shard) blocked(r record, now int64) bool {
	if sh.kindOf(r) != kindValue || sh.table.step == nil || sh.asked == nil {
		return true // what it is to its owner cannot be told
	}
	peek := *sh.asked
	peek.Cost = 0
	if peek.OwnTime {
		peek.Now = now
	}
	res := sh.table.step(sh.value(r), peek)
	return res.Corrupt || res.Reply.Remaining == 0
}

// freeOne frees an expired or unblocked key in the next so many buckets.
func (sh *shard) freeOne(now int64, most uint32) bool {
	for range min(most, sh.n) {
		if sh.hand >= sh.n {
			sh.hand = 0
		}
		b := sh.bucket(sh.hand)
		for u := bucketHead; u < b.end(); {
			r := b.record(u)
			if r.expires() <= now || !sh.blocked(r, now) {
				sh.remove(sh.join(sh.hand, u))
				return true
			}
			u += r.units()
		}
		sh.hand++
	}
	return false
}

// ask notes under which limit keys are judged.
func (sh *shard) ask(args store.Args) {
	if sh.asked == nil {
		sh.asked = new(store.Args)
	}
	*sh.asked = args
}

// fullRetry is how long, in microseconds, a store that found every key blocked
// believes it, so that a flood does not search all keys for each new one.
const fullRetry = 10_000

// room is the search for keys to free. One caller at a time searches, and goes on where
// the one before it left off.
type room struct {
	mu      sync.Mutex
	shard   int   // where the search goes on, over the shards of all tables
	fullFor int64 // until this time no key can be freed
}

// makeRoom frees one key anywhere, for a new one in table, asked for with args; table is nil
// where no step asks. It reports false where all are blocked.
func (c *core) makeRoom(table *table, args store.Args) bool {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	wait := c.room.fullFor - c.now()
	switch {
	case c.count.Load() < c.maxKeys:
		return true
	case wait > 0 && wait <= fullRetry:
		return false
	}
	tables := *c.spaces.Load()
	for range len(tables) * shardCount {
		c.room.shard %= len(tables) * shardCount
		sh := &tables[c.room.shard/shardCount].shards[c.room.shard%shardCount]
		if sh.freeFor(table, args) {
			return true
		}
		c.room.shard++
	}
	c.room.fullFor = c.now() + fullRetry
	return false
}

// freeFor frees a key of the shard for a new one in table; see makeRoom.
func (sh *shard) freeFor(table *table, args store.Args) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.table == table {
		sh.ask(args)
	}
	return sh.freeOne(sh.table.core.now(), math.MaxUint32)
}
