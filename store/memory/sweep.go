package memory

import "time"

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

// makeRoom frees one key anywhere. It reports false where all are blocked.
func (c *core) makeRoom(now int64) bool {
	if now < c.fullFor.Load() {
		return false
	}
	for _, t := range *c.spaces.Load() {
		for i := range t.shards {
			sh := &t.shards[i]
			sh.mu.Lock()
			freed := sh.freeOne(now, sh.used)
			sh.mu.Unlock()
			if freed {
				return true
			}
		}
	}
	c.fullFor.Store(now + fullRetry)
	return false
}
