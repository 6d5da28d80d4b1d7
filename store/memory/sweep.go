package memory

import (
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
			t.shards[i].sweep(c.clock())
		}
	}
}

// sweep holds the lock for one slice at a time, so that callers wait microseconds.
func (sh *shard) sweep(now int64) {
	for from := uint32(0); ; from += sweepSlice {
		sh.mu.Lock()
		if from >= sh.used {
			sh.compact()
			sh.mu.Unlock()
			return
		}
		for i := from; i < min(from+sweepSlice, sh.used); i++ {
			if e := sh.at(i); e.kind != kindNone && e.expires <= now {
				sh.remove(i)
			}
		}
		sh.mu.Unlock()
	}
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
	wait := c.room.fullFor - c.clock()
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
		sh.mu.Lock()
		if sh.table == table {
			sh.asked, sh.known = args, true
		}
		freed := sh.freeOne(c.clock(), sh.used)
		sh.mu.Unlock()
		if freed {
			return true
		}
		c.room.shard++
	}
	c.room.fullFor = c.clock() + fullRetry
	return false
}
