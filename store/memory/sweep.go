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

// sweepSlice is how many records are looked at under one hold of a shard's lock.
const sweepSlice = 256

// sweep holds the lock for one slice at a time, so that callers wait microseconds.
func (sh *shard) sweep(now int64) {
	var moves uint32
	for p, first := arenaStart, true; ; first = false {
		sh.mu.Lock()
		if first {
			moves = sh.moves
		}
		if sh.moves != moves { // another sweep has been here
			sh.mu.Unlock()
			return
		}
		for n := 0; n < sweepSlice && p < sh.tail; n++ {
			r := sh.at(p)
			next := p + place(r.units())
			if r.kind() != kindFree && r.expires() <= now {
				sh.remove(p)
			}
			p = next
		}
		if p >= sh.tail {
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

// freeOne frees an expired or unblocked key among the next steps records, and looks at
// none twice.
func (sh *shard) freeOne(now int64, steps int) bool {
	for p, left := max(sh.hand, arenaStart), int64(sh.tail)-int64(arenaStart); steps > 0 && left > 0; steps-- {
		if p >= sh.tail {
			p = arenaStart
		}
		r := sh.at(p)
		left -= int64(r.units())
		at := p
		p += place(r.units())
		sh.hand = p
		if r.kind() != kindFree && (r.expires() <= now || !sh.blocked(r, now)) {
			sh.remove(at)
			return true
		}
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
		sh.mu.Lock()
		if sh.table == table {
			sh.ask(args)
		}
		freed := sh.freeOne(c.now(), math.MaxInt)
		sh.mu.Unlock()
		if freed {
			return true
		}
		c.room.shard++
	}
	c.room.fullFor = c.now() + fullRetry
	return false
}
