// Package redis is a store on Redis 6.0 or later: one server, a primary that Sentinel
// watches, or a cluster. It has every capability.
//
//	st, err := redis.Open("redis://localhost:6379/0", nil)
//
// # What is sent, and how often
//
// Every method is one round trip (per thousand keys, where it takes many), save that a
// script which the server does not know is sent again in full; the server had refused
// it. Nothing else is ever sent twice, whatever retries the client is set to: after a
// lost reply nobody knows whether the write happened, and repeating it would count
// twice. Only a cluster's redirections, which say that nothing was done, are followed.
//
// A script touches keys of one cluster slot, and reads the server's clock before it
// writes, which Redis before 5 refuses.
//
// # Many callers, one trip
//
// Decisions that are asked for at the same time share round trips and scripts, across limiters.
// A lone caller goes straight to the server. While two trips to it are under way ([Options.Trips])
// further callers wait for the next, which takes as many of them as makes the trips equal, up to
// [Options.MaxBatch] and to about a millisecond of the server's time. No timer holds anybody back. Those of
// a trip are decided one after another, in the order in which they came, and each has its own answer or error. In a cluster
// each node has trips of its own, and each slot in them a script. Other clients than go-redis's
// for one server, for Sentinel and for a cluster send every decision on its own.
//
// A caller whose context ends leaves at once: before its trip sets out nothing is sent for it,
// afterwards its decision may count. The trip itself has a context that ends with the last of
// its callers or of their deadlines; it carries none of their values, so hooks and traces of the
// client see the trip and not the callers. A lone caller's trip has the caller's context.
//
// # Deadlines
//
// A call returns at its context's deadline. A client that ignores deadlines
// (ContextTimeoutEnabled is false, the default of [goredis.Options]) is waited for in a
// goroutine of its own, which ends by the client's read timeout. A context that is
// cancelled earlier than its deadline is noticed before anything is sent; after that, only
// with such a client, and otherwise when the answer or the deadline comes.
//
// # What Redis may lose
//
// With a maxmemory-policy other than noeviction Redis drops live keys when memory is
// short, and a failover loses what was not yet replicated. Then limits start afresh.
package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/weirlimits/weir/store"
)

const (
	maxTTL = 100 * 365 * 24 * time.Hour
	// maxValue is Redis's own limit for a string.
	maxValue = 512 << 20
	// maxCounter is what Lua counts exactly; INCRBY alone would go to 2^63-1.
	maxCounter = 1<<53 - 1
)

// Store keeps state in Redis. It is safe for concurrent use.
type Store struct {
	client goredis.UniversalClient
	owned  bool // Close closes the client
	deaf   bool // the client ignores deadlines once it has a connection
	traits store.Traits
	place  func(key string) place
	gather *gatherer // nil where every decision makes a trip of its own
	wrong  error     // why no step can be prepared
	closed atomic.Bool

	mu      sync.Mutex
	scripts map[string]*script // of steps, by hash
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

// New returns a store on the caller's client, which Close leaves open. A nil opts means
// the defaults. Every client of the go-redis library will do: a cluster's, one that
// Sentinel guides, a Ring.
func New(client goredis.UniversalClient, opts *Options) *Store {
	if opts == nil {
		opts = &Options{}
	}
	s := &Store{
		client: client,
		traits: store.Traits{
			Name: "redis",
			Capabilities: store.CapCounter | store.CapSwap | store.CapList | store.CapSortedSet |
				store.CapScript | store.CapClock | store.CapFootprint,
			Clock:      store.ServerClock,
			TTLGrain:   time.Millisecond,
			MaxTTL:     maxTTL,
			MaxValue:   maxValue,
			MaxCounter: maxCounter,
			Evicts:     !opts.NoEviction,
		},
		scripts: map[string]*script{},
	}
	switch c := client.(type) {
	case *goredis.Client:
		s.deaf = !c.Options().ContextTimeoutEnabled
		s.place = oneServer
	case *goredis.ClusterClient:
		s.deaf = !c.Options().ContextTimeoutEnabled
		s.place = bySlot
	default: // how it spreads keys, and what it does with deadlines, is its own affair
		s.deaf = true
		s.place = byKey
	}
	s.wrong = opts.check()
	if s.wrong == nil {
		s.gather = newGatherer(s, opts)
	}
	return s
}

// Traits implements [store.Store].
func (s *Store) Traits() store.Traits { return s.traits }

// Close implements [store.Store].
func (s *Store) Close() error {
	if s.closed.Swap(true) || !s.owned {
		return nil
	}
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("redis: close: %w", err)
	}
	return nil
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	if err := s.ready(ctx); err != nil {
		return fmt.Errorf("redis: delete: %w", err)
	}
	cmds := make([]once, len(keys))
	for i, key := range keys {
		cmds[i] = command(ctx, "unlink", key)
	}
	for _, a := range s.ask(ctx, cmds) {
		if a.err != nil {
			return fmt.Errorf("redis: delete: %w", a.err)
		}
	}
	return nil
}

// px returns the TTL in whole milliseconds, rounded up. One is added because the server
// counts from a time that it rounded down.
func px(ttl time.Duration) int64 {
	return int64((ttl+time.Millisecond-1)/time.Millisecond) + 1
}
