// Package peers puts other Go rate limiters behind one small interface, so that they can be
// measured beside ours. Every adapter uses its library as its own documentation does, with the
// library's defaults; a client of a server is the caller's, and so the same for all.
//
// It is a module of its own: nobody who imports ours carries theirs.
package peers

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/weirlimits/weir"
)

// The stores on which a peer may keep its state.
const (
	Memory   = "memory"
	Redis    = "redis"
	Memcache = "memcache"
)

// What a peer may not be able to do. Besides these, [Entry.Cannot] names the stores that the peer's
// module does not have, as "store: memcache".
const (
	CannotCost  = "cost above 1"
	CannotPeek  = "peek"
	CannotReset = "reset"
	CannotRetry = "retry-after"
	CannotClock = "injected clock"
	// CannotDeny: it answers when the request may go, and makes the caller wait until then.
	CannotDeny = "deny"
	// CannotForget: a key that was used once is kept as long as the limiter.
	CannotForget = "forget keys"
	// CannotSeparate: it keeps an unseeded hash in place of the key, and two keys whose hashes are the
	// same are one.
	CannotSeparate = "keep any two keys apart"
)

// Unknown is what an [Answer] holds where the peer does not tell.
const Unknown = -1

// Answer is a peer's decision.
type Answer struct {
	Allowed    bool
	Remaining  int64         // [Unknown] where this call does not tell
	RetryAfter time.Duration // as told, unchecked; zero where allowed, [Unknown] where it does not tell
}

// Peer is another library's limiter, with one limit. It is safe for concurrent use.
type Peer interface {
	// Take asks for n requests at once for key; n of zero peeks. What the peer cannot do is
	// [errors.ErrUnsupported]; any other error is the peer's own.
	Take(ctx context.Context, key string, n int64) (Answer, error)
	// Reset forgets key, or is [errors.ErrUnsupported].
	Reset(ctx context.Context, key string) error
	// Close frees what Open made; the client of a server stays open.
	Close() error
}

// Config is what a peer is opened with.
type Config struct {
	Limit weir.Limit
	// Clock replaces the peer's clock; nil leaves it alone.
	Clock func() time.Time
	// Redis is the client for the peers on Redis.
	Redis goredis.UniversalClient
}

// Entry is a peer on one store.
type Entry struct {
	Name      string   // "throttled"
	Module    string   // "github.com/throttled/throttled/v2"
	Version   string   // as built in; "(unknown)" where the program does not know
	Algorithm string   // what it calls its algorithm, in a few words
	Store     string   // [Memory] or [Redis]
	Cannot    []string // what it cannot do

	open func(c Config) (Peer, error)
}

// String is the name and the store.
func (e Entry) String() string { return e.Name + " on " + e.Store }

// Can reports whether Cannot lacks what.
func (e Entry) Can(what string) bool { return !slices.Contains(e.Cannot, what) }

// Open opens the peer. An invalid limit is a [weir.FieldError]; a clock for a peer that takes none is
// [errors.ErrUnsupported].
func (e Entry) Open(c Config) (Peer, error) {
	if err := c.Limit.Validate(); err != nil {
		return nil, err
	}
	if c.Clock != nil && !e.Can(CannotClock) {
		return nil, fmt.Errorf("peers: %s: clock: it takes none: %w", e, errors.ErrUnsupported)
	}
	if e.Store == Redis && c.Redis == nil {
		return nil, fmt.Errorf("peers: %s: Redis: nil: want a client", e)
	}
	p, err := e.open(c)
	if err != nil {
		return nil, fmt.Errorf("peers: %s: %w", e, err)
	}
	return p, nil
}

// All returns the peers, those on Redis last.
func All() []Entry {
	all := []Entry{
		golangRate, uberRatelimit, goLimiter, chiHTTPRate, throttledMemory, ululeMemory,
		throttledRedis, ululeRedis, redisRate,
	}
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	has := map[string][]string{}
	for _, e := range all {
		has[e.Module] = append(has[e.Module], e.Store)
	}
	for i := range all {
		e := &all[i]
		if e.Version = versions[e.Module]; e.Version == "" {
			e.Version = "(unknown)"
		}
		e.Cannot = slices.Clone(e.Cannot)
		for _, store := range []string{Memory, Redis, Memcache} {
			if !slices.Contains(has[e.Module], store) {
				e.Cannot = append(e.Cannot, "store: "+store)
			}
		}
	}
	return all
}

// unsupported is the error of a call that the peer has no function for.
func unsupported(what string) error { return fmt.Errorf("peers: %s: %w", what, errors.ErrUnsupported) }
