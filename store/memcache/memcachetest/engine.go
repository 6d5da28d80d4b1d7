package memcachetest

import (
	"container/list"
	"sync"
)

// itemHeader is what memcached spends on an item besides key, value and flags: its header, the cas unique, the key's zero byte
// and the value's line end.
const itemHeader = 48 + 8 + 1 + 2

type item struct {
	key     string
	value   []byte // never changed in place: a reply that is still being written may hold it
	flags   uint32
	expires int64 // tick
	stored  int64 // tick
	unique  uint64
}

func (it *item) size() int {
	size := itemHeader + len(it.key) + len(it.value)
	if it.flags != 0 {
		size += 4
	}
	return size
}

// engine holds the items and the counters; sessions speak to it. Each call is atomic, a command on several keys is not.
type engine struct {
	ticks
	opts Options

	mu         sync.Mutex
	items      map[string]*list.Element
	recent     *list.List // of *item, the most recently used first
	bytes      int
	lastUnique uint64
	flush      flush
	counters   Stats // the gauges in it are filled in by snapshot
	open       int   // connections
}

// flush says which items flush_all has made invalid. As in memcached there is only one: a later one, even delayed, replaces it.
type flush struct {
	tick   int64  // once it has come, items stored at or before it are gone; 0 is none
	unique uint64 // and so are items with a smaller unique
}

func newEngine(opts Options) *engine {
	return &engine{
		ticks:  ticks{now: opts.Now, start: opts.Now()},
		opts:   opts,
		items:  make(map[string]*list.Element),
		recent: list.New(),
	}
}

// get returns a copy of the item, since another session may change it while this one answers.
func (e *engine) get(key string) (item, bool) {
	now := e.tick()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counters.CmdGet++
	it := e.lookup(key, now)
	if it == nil {
		e.counters.GetMisses++
		return item{}, false
	}
	e.counters.GetHits++
	e.use(it)
	return *it, true
}

func (e *engine) touch(key string, expires int64) (item, bool) {
	now := e.tick()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counters.CmdTouch++
	it := e.lookup(key, now)
	if it == nil {
		e.counters.TouchMisses++
		return item{}, false
	}
	e.counters.TouchHits++
	e.use(it)
	it.expires = expires
	return *it, true
}

func (e *engine) remove(key string) bool {
	now := e.tick()
	e.mu.Lock()
	defer e.mu.Unlock()
	it := e.lookup(key, now)
	if it == nil {
		e.counters.DeleteMisses++
		return false
	}
	e.counters.DeleteHits++
	e.unlink(it)
	return true
}

// refuse notes an item that is too large. A set then also removes what it would have replaced, so that no stale value stays.
func (e *engine) refuse(key string, set bool) {
	now := e.tick()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counters.StoreTooLarge++
	if !set {
		return
	}
	if it := e.lookup(key, now); it != nil {
		e.unlink(it)
	}
}

// flushAll makes all items invalid, at once or in delay seconds; a delay above 30 days is a Unix time.
func (e *engine) flushAll(delay int32) {
	now := e.tick()
	at := now
	if delay > 0 {
		// A time before the server's start is before every item: it flushes nothing.
		at = max(1, e.expiry(delay))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush.tick = at - 1
	if e.flush.tick <= now {
		e.flush.unique = e.nextUnique()
	}
}

func (e *engine) countFlush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counters.CmdFlush++
}

// lookup finds a live item and frees a dead one. It needs the lock, as all methods below.
func (e *engine) lookup(key string, now int64) *item {
	elem, ok := e.items[key]
	if !ok {
		return nil
	}
	it := elem.Value.(*item)
	switch {
	case e.flushed(it, now):
		e.counters.GetFlushed++
	case it.expires <= now:
		e.counters.GetExpired++
	default:
		return it
	}
	e.unlink(it)
	return nil
}

func (e *engine) flushed(it *item, now int64) bool {
	f := e.flush
	return f.tick != 0 && f.tick <= now && (it.stored <= f.tick || it.unique < f.unique)
}

func (e *engine) use(it *item) { e.recent.MoveToFront(e.items[it.key]) }

// link adds an item, which takes the place of any other under its key, and evicts what no longer fits.
func (e *engine) link(it *item, now int64) {
	if elem, ok := e.items[it.key]; ok {
		e.unlink(elem.Value.(*item))
	}
	it.stored = now
	it.unique = e.nextUnique()
	e.items[it.key] = e.recent.PushFront(it)
	e.bytes += it.size()
	e.counters.TotalItems++
	for e.bytes > e.opts.MaxBytes || e.opts.MaxItems > 0 && len(e.items) > e.opts.MaxItems {
		oldest := e.recent.Back().Value.(*item)
		if !e.flushed(oldest, now) && oldest.expires > now {
			e.counters.Evictions++
		}
		e.unlink(oldest)
	}
}

func (e *engine) unlink(it *item) {
	e.recent.Remove(e.items[it.key])
	delete(e.items, it.key)
	e.bytes -= it.size()
}

func (e *engine) nextUnique() uint64 {
	e.lastUnique++
	return e.lastUnique
}
