// Package combine serves concurrent callers of one key together.
package combine

import (
	"context"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// Lines lets the callers of each key queue up. While one is served, others for the same
// key wait in line, and then all that wait are served at once, in the order in which they
// came. There is no timer: a caller who finds nobody ahead is served at once, on its own
// goroutine and under its own context.
//
// Those served together have a context that is nobody's: it carries no values, and ends
// once every one of them has left. A caller leaves when its own context ends, and the
// others do not notice.
type Lines[A any] struct {
	serve  func(ctx context.Context, key string, asks []*A)
	most   int
	seed   maphash.Seed
	shards [64]shard[A]
}

type shard[A any] struct {
	mu    sync.Mutex
	lines map[string]*line[A] // of the keys that are being served
}

type line[A any] struct{ waiting []*place[A] }

// place is where a caller stands in line.
type place[A any] struct {
	ask   *A
	group *group[A]     // once it is being served
	done  chan struct{} // closed once it has been
}

// group are those served together.
type group[A any] struct {
	places []*place[A]
	ctx    context.Context
	cancel context.CancelFunc
	left   atomic.Int64 // who still wait for the outcome
	failed any          // what serve panicked with
}

func (g *group[A]) leave() {
	if g.left.Add(-1) == 0 {
		g.cancel()
	}
}

// New returns lines that serve at most so many asks at once. serve answers each ask in the
// ask itself; it is called for one group of a key at a time.
func New[A any](most int, serve func(ctx context.Context, key string, asks []*A)) *Lines[A] {
	l := &Lines[A]{serve: serve, most: most, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].lines = map[string]*line[A]{}
	}
	return l
}

func (l *Lines[A]) shard(key string) *shard[A] {
	return &l.shards[maphash.String(l.seed, key)%uint64(len(l.shards))]
}

// Do returns nil once the ask has been served. With the context's error the caller has left: whether
// the ask is or will be served is then unknown, unless it was withdrawn from the line, and it must not be
// looked at. Where serve panics, each of those who wait for it does.
func (l *Lines[A]) Do(ctx context.Context, key string, ask *A) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sh := l.shard(key)
	sh.mu.Lock()
	ln, busy := sh.lines[key]
	if !busy {
		ln = &line[A]{}
		sh.lines[key] = ln
		sh.mu.Unlock()
		defer l.next(sh, key, ln)
		l.serve(ctx, key, []*A{ask})
		return nil
	}
	p := &place[A]{ask: ask, done: make(chan struct{})}
	ln.waiting = append(ln.waiting, p)
	sh.mu.Unlock()

	select {
	case <-p.done:
		if p.group.failed != nil {
			panic(p.group.failed)
		}
		return nil
	case <-ctx.Done():
	}
	sh.mu.Lock()
	if i := slices.Index(ln.waiting, p); i >= 0 {
		ln.waiting = slices.Delete(ln.waiting, i, i+1)
	}
	g := p.group
	sh.mu.Unlock()
	if g != nil {
		g.leave()
	}
	return ctx.Err()
}

// next serves those who came meanwhile, if any, without keeping the caller.
func (l *Lines[A]) next(sh *shard[A], key string, ln *line[A]) {
	if g := l.take(sh, key, ln); g != nil {
		go l.run(sh, key, ln, g)
	}
}

// run serves group after group, until the line is empty.
func (l *Lines[A]) run(sh *shard[A], key string, ln *line[A], g *group[A]) {
	defer func() {
		if g != nil { // serve ended this goroutine
			l.next(sh, key, ln)
		}
	}()
	for ; g != nil; g = l.take(sh, key, ln) {
		l.serveGroup(key, g)
	}
}

// serveGroup hands a panic to those who wait, as if each had been served on its own: on
// this goroutine, where nobody can recover it, it would end the program.
func (l *Lines[A]) serveGroup(key string, g *group[A]) {
	asks := make([]*A, len(g.places))
	for i, p := range g.places {
		asks[i] = p.ask
	}
	defer func() {
		if v := recover(); v != nil {
			g.failed = fmt.Errorf("%v\n\n%s", v, debug.Stack())
		}
		g.cancel()
		for _, p := range g.places {
			close(p.done)
		}
	}()
	l.serve(g.ctx, key, asks)
}

// take returns the next group of a line, or ends an empty line and returns nil.
func (l *Lines[A]) take(sh *shard[A], key string, ln *line[A]) *group[A] {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	n := min(len(ln.waiting), l.most)
	if n == 0 {
		delete(sh.lines, key)
		return nil
	}
	g := &group[A]{places: slices.Clone(ln.waiting[:n])}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.left.Store(int64(n))
	for _, p := range g.places {
		p.group = g
	}
	ln.waiting = slices.Delete(ln.waiting, 0, n)
	return g
}
