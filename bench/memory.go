package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/store"
)

// StandIn is why a stand-in has no figure for memory and throughput: it is there for function, and
// its speed and bytes mean nothing.
const StandIn = "stand-in"

const (
	// singleRequests bounds the requests of one measurement where each event has to be one.
	singleRequests = 8000
	// sampledKeys are measured one by one where growth cannot be.
	sampledKeys = 4
	// alike is by what part a key's size may differ from that of another that stands for it.
	alike = 0.25
)

// memoryCrew returns how many workers fill keys. On Redis it is one: each connection has buffers
// that come and go, and they would be taken for the keys'.
func memoryCrew(kind string) int {
	if kind == backend.KindMemcache {
		return sampledKeys
	}
	return 1
}

// enough returns how much the keys of one measurement should take together, so that buffers do not
// show, and how many keys are enough whatever they take: so many that hash tables of the usual
// doubling sizes are filled as far as they are on average.
func enough(kind string) (bytes, keys int64) {
	if kind == backend.KindMemory {
		return 4 << 20, 30_000
	}
	return 768 << 10, 3200
}

// measureMemory finds what a key costs after n admitted events, evenly spread over one window.
// The limit is raised to n where it is lower.
func measureMemory(ctx context.Context, p pair, n int64) (Memory, error) {
	m := Memory{Events: n}
	if p.backend.StandIn != "" {
		m.NA = StandIn
		return m, nil
	}
	p.limit.Count = max(p.limit.Count, n)
	c, err := newCrew(ctx, p, memoryCrew(p.backend.Kind))
	if err == nil && p.limit.Count == n && hasCompanions(c[0].limiter) {
		p.limit.Count++ // the companion's event weighs until the window's end
		c, err = newCrew(ctx, p, memoryCrew(p.backend.Kind))
	}
	if text, ok := noRoom(err, p.limit); ok {
		m.NA = text
		return m, nil
	}
	if err != nil {
		return m, err
	}
	f := filler{pair: p, crew: c}
	err = f.measure(ctx, &m)
	var short *notAdmittedError
	if errors.As(err, &short) {
		m, err = Memory{Events: n, NA: short.Error()}, nil
	}
	if err != nil {
		return m, err
	}
	return m, f.clean(ctx)
}

// filler makes keys with events in them.
type filler struct {
	pair  pair
	crew  crew
	keys  int    // made so far
	first []byte // the first key's state, where it is one value
}

func (f *filler) measure(ctx context.Context, m *Memory) error {
	spread := spreadSchedule(m.Events, f.pair.limit.Window)
	if err := f.make(ctx, 1, spread.play); err != nil {
		return err
	}
	var err error
	if m.KeyBytes, err = f.size(ctx, 0); err != nil {
		return err
	}
	if f.pair.backend.Shared || f.pair.backend.Kind == backend.KindMemcache {
		return f.sample(ctx, m, spread)
	}
	way, err := f.cheapest(ctx, spread, m)
	if err != nil {
		return err
	}
	bytes, keys := enough(f.pair.backend.Kind)
	m.Keys = int(min(max(bytes/max(m.KeyBytes, 1), 8), keys, way.affordable))
	before, err := f.used(ctx)
	if err != nil {
		return err
	}
	if err := f.make(ctx, m.Keys, way.fill); err != nil {
		return err
	}
	after, err := f.used(ctx)
	m.BytesPerKey = max(0, float64(after-before)/float64(m.Keys)+float64(way.short))
	return err
}

// sample takes single keys' own figures: on memcached, whose chunks are all that a key takes, and
// where others write too.
func (f *filler) sample(ctx context.Context, m *Memory, use schedule) error {
	m.Shared = f.pair.backend.Shared
	m.Keys = int(min(sampledKeys, max(1, singleRequests/m.Events)))
	if err := f.make(ctx, m.Keys-1, use.play); err != nil {
		return err
	}
	var sum int64
	for i := range m.Keys {
		size, err := f.size(ctx, i)
		if err != nil {
			return err
		}
		sum += size
	}
	m.BytesPerKey = float64(sum) / float64(m.Keys)
	return nil
}

// memoryKey returns a key of 16 characters. Each call makes a new string, as a server's requests
// do, so that whoever keeps it is charged for it.
func memoryKey(i int) string { return fmt.Sprintf("client-%09d", i) }

// size is the store's own figure for all that belongs to the i-th key.
func (f *filler) size(ctx context.Context, i int) (int64, error) {
	return sizeOf(ctx, f.pair.backend.Store, f.crew[0].limiter, memoryKey(i))
}

// sizeOf sums the store's own figures for all that belongs to a key; zero where it has none.
func sizeOf(ctx context.Context, st store.Store, l *weir.Weir, key string) (sum int64, err error) {
	footprint, ok := st.(store.Footprint)
	if !ok {
		return 0, nil
	}
	for _, name := range l.Keys(key) {
		size, err := footprint.Size(ctx, name)
		if err != nil {
			return 0, err
		}
		sum += size
	}
	return sum, nil
}

// clean deletes the keys, so that the next measurement starts with a small key table.
func (f *filler) clean(ctx context.Context) error {
	err := f.crew.each(ctx, func(ctx context.Context, i int, w *worker) error {
		w.now = memoryStart(f.pair.limit.Window)
		var names []string
		for k := i; k < f.keys; k += len(f.crew) {
			names = append(names, w.limiter.Keys(memoryKey(k))...)
		}
		if len(names) == 0 {
			return nil
		}
		return f.pair.backend.Store.Delete(ctx, names...)
	})
	if sweeper, ok := f.pair.backend.Store.(interface{ Sweep() }); ok {
		sweeper.Sweep() // or it would give the memory back in the middle of the next measurement
	}
	if err != nil || f.pair.backend.Kind != backend.KindRedis || f.keys < 300 {
		return err
	}
	return f.settle(ctx)
}

// settle waits until Redis has shrunk its key table, which it does in the upkeep that it makes ten
// times a second.
func (f *filler) settle(ctx context.Context) error {
	first, err := f.used(ctx)
	if err != nil {
		return err
	}
	last := first
	for range 12 {
		select {
		case <-time.After(30 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		now, err := f.used(ctx)
		if err != nil || now == last && now < first {
			return err
		}
		last = now
	}
	return nil
}

// used returns the memory in use. Just before, all workers ask for something, so that the buffers of
// their connections are there at every reading.
func (f *filler) used(ctx context.Context) (int64, error) {
	if f.pair.backend.Kind == backend.KindMemory {
		return liveHeap(), nil
	}
	err := f.crew.each(ctx, func(ctx context.Context, _ int, w *worker) error {
		for range 50 {
			if _, err := w.limiter.Peek(ctx, "first"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return f.pair.backend.UsedMemory(ctx)
}

// liveHeap collects at least twice, since what has a finalizer or lies in a pool outlives the first
// time, and until that frees no more.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	for last, i := int64(-1), 0; i < 6; i++ {
		runtime.GC()
		runtime.ReadMemStats(&m)
		live := int64(m.HeapAlloc)
		if i > 0 && last-live < 4<<10 {
			break
		}
		last = live
	}
	return int64(m.HeapAlloc)
}
