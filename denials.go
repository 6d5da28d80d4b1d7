package weir

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"
)

// DenialOptions are the options of [CacheDenials]. Zero means the default.
type DenialOptions struct {
	// MaxKeys bounds how many keys' denials are kept; the default is 65,536, at most
	// about 20 MB with long keys. Beyond it some are forgotten, which costs a trip.
	MaxKeys int
	// Clock replaces the process's clock, for tests.
	Clock func() time.Time
}

// DenialCache denies here, without a trip to the store, what the store has just denied:
// a cost that was denied until an instant is denied until then, and larger costs with
// it. So a client that goes on asking costs the store nothing.
//
// It never admits by itself. It may lag: a limit that was raised, a Reset or a Refund that did not go
// through this cache shows only at that instant. For a cost larger than the one that was
// denied, RetryAfter is the least that it can be. Remaining is as old as the denial.
// A plan that is [Plan.Spurious] may deny for a moment what it admits in the next, so its
// denials are believed for a second at most.
type DenialCache struct {
	inner   Limiter
	now     func() time.Time
	most    int           // for each shard
	longest time.Duration // for which a denial is believed
	seed    maphash.Seed
	shards  [denialShards]denialShard
}

const denialShards = 16

// spuriousDenial is how long a denial is believed that another caller's rollback may have caused.
const spuriousDenial = time.Second

type denialShard struct {
	mu     sync.RWMutex
	keys   map[string]denial
	forgot uint64 // how often a key was forgotten: a denial from before is not kept
}

// denial is the smallest cost that is known to be denied, and the answer to it.
type denial struct {
	cost     int64
	at       time.Time // when the store was asked
	holds    time.Duration
	decision Decision
}

func (d denial) over(now time.Time) bool { return now.Sub(d.at) >= d.holds }

var _ Refunder = (*DenialCache)(nil)

// CacheDenials returns a cache in front of l. A nil opts means the defaults. It returns
// a [FieldError] where l is known to count denied requests: those it has to see.
func CacheDenials(l Limiter, opts *DenialOptions) (*DenialCache, error) {
	w, ok := As[*Weir](l)
	if p, per := As[*PerKey](l); !ok && per {
		var err error
		if w, err = p.For(""); err != nil {
			return nil, err
		}
		ok = true
	}
	if ok {
		shape, err := w.algorithm.Shape(w.limit)
		if err != nil {
			return nil, err
		}
		if shape.Guarantee.DeniedCount {
			return nil, &FieldError{
				Field: "limiter", Value: w.algorithm.String(),
				Want: "an algorithm that does not count denied requests",
			}
		}
	}
	o := DenialOptions{}
	if opts != nil {
		o = *opts
	}
	if o.MaxKeys <= 0 {
		o.MaxKeys = 1 << 16
	}
	c := &DenialCache{
		inner: l, now: o.Clock, seed: maphash.MakeSeed(),
		most: (o.MaxKeys + denialShards - 1) / denialShards, longest: Never,
	}
	if ok && w.plan.Spurious {
		c.longest = spuriousDenial
	}
	if c.now == nil {
		c.now = time.Now
	}
	for i := range c.shards {
		c.shards[i].keys = map[string]denial{}
	}
	return c, nil
}

// name is under what a key's denial is kept: long keys are hashed, so that a client
// cannot choose how much memory its denial takes.
func (c *DenialCache) name(key string) (*denialShard, string) {
	name := keyspace{}.user(key)
	return &c.shards[maphash.String(c.seed, name)%denialShards], name
}

// Take implements [Limiter].
func (c *DenialCache) Take(ctx context.Context, key string, n int64) (Decision, error) {
	if err := ctx.Err(); err != nil || n <= 0 {
		return c.inner.Take(ctx, key, n)
	}
	sh, name := c.name(key)
	now := c.now()
	sh.mu.RLock()
	known, ok := sh.keys[name]
	forgot := sh.forgot
	sh.mu.RUnlock()
	if ok && n >= known.cost && !known.over(now) {
		return known.answer(n, now), nil
	}
	d, err := c.inner.Take(ctx, key, n)
	if err != nil || d.Degraded {
		return d, err
	}
	if !d.Allowed && d.RetryAfter != Never {
		c.keep(sh, name, denial{cost: n, at: now, holds: min(d.RetryAfter, c.longest), decision: d}, forgot)
	}
	return d, nil
}

// answer is the denial as it is now, for a cost that is as large or larger.
func (d denial) answer(n int64, now time.Time) Decision {
	past := max(0, now.Sub(d.at))
	a := d.decision
	a.RetryAfter -= past
	a.ResetAfter = max(0, a.ResetAfter-past)
	if n > a.Limit {
		a.RetryAfter = Never
	}
	return a
}

// keep notes a denial, unless a smaller cost is known to be denied for longer.
func (c *DenialCache) keep(sh *denialShard, name string, d denial, forgot uint64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.forgot != forgot {
		return
	}
	if old, ok := sh.keys[name]; ok {
		if old.cost < d.cost && !old.over(d.at) {
			return
		}
	} else if len(sh.keys) >= c.most {
		sh.makeRoom(d.at)
	}
	sh.keys[strings.Clone(name)] = d // the caller's may be a part of something large
}

// makeRoom drops a few denials, those that are over where it meets any.
func (sh *denialShard) makeRoom(now time.Time) {
	const look = 8 // a map's order is random
	seen, dropped := 0, 0
	last := ""
	for name, d := range sh.keys {
		if d.over(now) {
			delete(sh.keys, name)
			dropped++
		}
		last = name
		if seen++; seen == look {
			break
		}
	}
	if dropped == 0 {
		delete(sh.keys, last)
	}
}

// Peek implements [Limiter]. It always asks.
func (c *DenialCache) Peek(ctx context.Context, key string) (Decision, error) {
	return c.inner.Peek(ctx, key)
}

// Reset implements [Limiter].
func (c *DenialCache) Reset(ctx context.Context, key string) error {
	err := c.inner.Reset(ctx, key)
	c.forget(key)
	return err
}

// Refund implements [Refunder].
func (c *DenialCache) Refund(ctx context.Context, key string, n int64) (Decision, error) {
	d, err := refund(ctx, c.inner, key, n)
	c.forget(key)
	return d, err
}

func (c *DenialCache) forget(key string) {
	sh, name := c.name(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	delete(sh.keys, name)
	sh.forgot++
}

// Unwrap returns the limiter behind the cache, for [As].
func (c *DenialCache) Unwrap() Limiter { return c.inner }
