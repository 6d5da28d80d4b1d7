// Package memory keeps limiter state in this process. It has every capability, runs a
// step's Go function under a shard's lock, and allocates nothing for states of fixed size.
//
// Keys lie in tables of 512 shards, one table per space: hash tables that hold the records
// themselves, so that a decision finds its key at one place in memory. They hold no pointer,
// and grow and shrink a shard at a time. Expired keys are freed by a sweep that visits every
// key once a second in short slices; it ends with [Store.Close], and also when the Store
// itself is no longer reachable.
package memory

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// Options are the options of [New].
type Options struct {
	// MaxKeys bounds the number of keys; zero means no bound. A full store makes room
	// by freeing expired keys, then keys that are not blocked: those whose next request
	// of cost 1 would be admitted. It never frees a blocked key; where all are blocked
	// a new key is [store.ErrFull]. Limiters that share keys under different limits are
	// judged by the limit of the latest new key.
	MaxKeys int
	// Compact saves about ten bytes a key: tables are filled to the brim and grow in small
	// steps, so that a decision looks a little further and a new key costs more.
	Compact bool
	// Clock replaces the process's clock, for tests. The default never steps back: it
	// is the wall clock at New plus the monotonic time since.
	Clock func() time.Time
}

// Store is a store in this process. It implements every capability of package store.
// Create one with [New].
type Store struct {
	*core
	cleanup runtime.Cleanup
}

// core is what the sweeper refers to; it must not reach the Store, whose being
// collected is what ends a sweeper that nobody closed.
type core struct {
	start   time.Time
	base    int64            // start, in microseconds since the epoch
	clock   func() time.Time // the caller's, or nil
	maxKeys int64
	filling filling
	closed  atomic.Bool
	_       [64]byte     // what is read by every decision keeps off what new keys write
	count   atomic.Int64 // keys in all tables
	room    room
	raw     *table // keys that belong to no prepared space
	stop    chan struct{}
	swept   sync.WaitGroup

	mu     sync.Mutex // guards writes of spaces
	spaces atomic.Pointer[[]*table]
}

var (
	_ store.Counter   = (*Store)(nil)
	_ store.Swapper   = (*Store)(nil)
	_ store.List      = (*Store)(nil)
	_ store.SortedSet = (*Store)(nil)
	_ store.Scripter  = (*Store)(nil)
	_ store.Clock     = (*Store)(nil)
	_ store.Footprint = (*Store)(nil)
)

const sweepEvery = time.Second

// New returns an empty store. A nil opts means the defaults.
func New(opts *Options) *Store {
	if opts == nil {
		opts = &Options{}
	}
	start := time.Now()
	c := &core{
		start: start, base: start.UnixMicro(), clock: opts.Clock,
		maxKeys: math.MaxInt64, filling: roomy, stop: make(chan struct{}),
	}
	if opts.Compact {
		c.filling = compact
	}
	if opts.MaxKeys > 0 {
		c.maxKeys = int64(opts.MaxKeys)
	}
	c.raw = newTable(c, "", nil)
	c.spaces.Store(&[]*table{c.raw})
	c.swept.Add(1)
	go c.sweepLoop()
	s := &Store{core: c}
	s.cleanup = runtime.AddCleanup(s, func(c *core) { c.shut() }, c)
	return s
}

// now is the time in microseconds since the epoch.
func (c *core) now() int64 {
	if c.clock != nil {
		return c.clock().UnixMicro()
	}
	return c.base + int64(time.Since(c.start)/time.Microsecond)
}

// inOrder returns the time for who read the clock as now and then got the shard's lock. Where somebody with a later
// time came between it reads the clock again: by an earlier one, what is written would end too soon.
func (c *core) inOrder(sh *shard, now int64) int64 {
	if now < sh.latest {
		now = c.now()
	}
	sh.latest = now
	return now
}

// Traits implements [store.Store].
func (s *Store) Traits() store.Traits {
	return store.Traits{
		Name: "memory",
		Capabilities: store.CapCounter | store.CapSwap | store.CapList | store.CapSortedSet |
			store.CapScript | store.CapClock | store.CapFootprint,
		Clock:      store.ProcessClock,
		TTLGrain:   time.Microsecond,
		MaxTTL:     100 * 365 * 24 * time.Hour,
		MaxValue:   math.MaxInt32,
		MaxCounter: math.MaxInt64,
		Evicts:     s.maxKeys != math.MaxInt64,
	}
}

// Close frees everything and ends the sweeper. A second Close does nothing.
func (s *Store) Close() error {
	s.cleanup.Stop()
	s.shut()
	s.swept.Wait()
	return nil
}

func (c *core) shut() {
	if c.closed.CompareAndSwap(false, true) {
		close(c.stop)
		for _, t := range *c.spaces.Load() {
			t.clear()
		}
	}
}

// Keys returns how many keys the store holds, those included that have expired and
// that no sweep has met yet.
func (s *Store) Keys() int { return int(s.count.Load()) }

// Now implements [store.Clock].
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.usable(ctx); err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(s.now()), nil
}

func (c *core) usable(ctx context.Context) error {
	if c.closed.Load() {
		return store.ErrClosed
	}
	return ctx.Err()
}

// Prepare implements [store.Scripter].
func (s *Store) Prepare(step *store.Step, space string) (store.Runner, error) {
	if s.closed.Load() {
		return nil, store.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tables := *s.spaces.Load()
	for _, t := range tables[1:] {
		if t.space == space {
			return &runner{core: s.core, table: t, step: step.Func, store: s}, nil
		}
		if strings.HasPrefix(t.space, space) || strings.HasPrefix(space, t.space) {
			return nil, fmt.Errorf("memory: space %q: want one that does not overlap with %q", space, t.space)
		}
	}
	t := newTable(s.core, space, step.Func)
	more := append(tables[:len(tables):len(tables)], t)
	s.spaces.Store(&more)
	return &runner{core: s.core, table: t, step: step.Func, store: s}, nil
}

// find returns the table of a key's full name, and its name there.
func (c *core) find(full string) (*table, string) {
	for _, t := range (*c.spaces.Load())[1:] {
		if rest, ok := strings.CutPrefix(full, t.space); ok {
			return t, rest
		}
	}
	return c.raw, full
}
