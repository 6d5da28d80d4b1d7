package weir

import (
	"context"
	"sync"

	"github.com/weirlimits/weir/store"
)

// maxPlans bounds how many limits a PerKey keeps ready.
const maxPlans = 1024

// PerKey is a limiter whose limit is a function of the key, read at each call: plans of
// different customers, or a limit that an operator changes while the program runs. A
// key whose count is raised has more left at once; lowering never admits too many. Another window
// starts afresh. It keeps up to 1,024 limits ready, and makes others as they come.
type PerKey struct {
	algorithm Algorithm
	limitOf   func(key string) Limit
	store     store.Store
	opts      *Options

	mu    sync.RWMutex
	ready map[Limit]*Weir
}

var _ Refunder = (*PerKey)(nil)

// NewPerKey returns a limiter that asks limitOf for the limit of each key; it must be quick
// and safe for concurrent use. It is also asked now, for the empty key, so that an
// algorithm that the store cannot run is an error here. The errors and opts are those of [New].
func NewPerKey(a Algorithm, limitOf func(key string) Limit, st store.Store, opts *Options) (*PerKey, error) {
	p := &PerKey{algorithm: a, limitOf: limitOf, store: st, opts: opts, ready: map[Limit]*Weir{}}
	if _, err := p.For(""); err != nil {
		return nil, err
	}
	return p, nil
}

// For returns the limiter that decides key now, or the error of [New] for its limit.
func (p *PerKey) For(key string) (*Weir, error) {
	limit := p.limitOf(key)
	p.mu.RLock()
	w := p.ready[limit]
	p.mu.RUnlock()
	if w != nil {
		return w, nil
	}
	w, err := New(p.algorithm, limit, p.store, p.opts)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ready) >= maxPlans {
		clear(p.ready)
	}
	p.ready[limit] = w
	return w, nil
}

// Take implements [Limiter]. A limit that is not valid is an error.
func (p *PerKey) Take(ctx context.Context, key string, n int64) (Decision, error) {
	w, err := p.For(key)
	if err != nil {
		return Decision{}, err
	}
	return w.Take(ctx, key, n)
}

// Peek implements [Limiter].
func (p *PerKey) Peek(ctx context.Context, key string) (Decision, error) { return p.Take(ctx, key, 0) }

// Reset implements [Limiter]. It forgets what counts under the key's limit of now.
func (p *PerKey) Reset(ctx context.Context, key string) error {
	w, err := p.For(key)
	if err != nil {
		return err
	}
	return w.Reset(ctx, key)
}

// Refund implements [Refunder].
func (p *PerKey) Refund(ctx context.Context, key string, n int64) (Decision, error) {
	w, err := p.For(key)
	if err != nil {
		return Decision{}, err
	}
	return w.Refund(ctx, key, n)
}
