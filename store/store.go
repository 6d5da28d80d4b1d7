// Package store says what a rate limiter may ask of a backend.
//
// A [Store] is any place that keeps state under keys: a server, a cluster, this
// process. What it can do atomically it says twice, and both must agree: by the
// small interfaces that it implements ([Counter], [Swapper], [List], [SortedSet],
// [Scripter], [Clock], [Footprint]), which the compiler checks, and by its
// [Traits], which are data. Algorithms are planned against these, never against
// a particular backend.
//
// # Rules for every capability
//
// Keys are any bytes: empty, binary, long, spaced. A store carries them or hashes
// what it cannot carry; two different keys never meet.
//
// A TTL is a floor: the key lives at least that long and is gone soon after, within
// [Traits.TTLGrain] and two seconds. A TTL is never zero and never cut down; one
// above [Traits.MaxTTL] is an error.
//
// Every method is safe for concurrent use. A context that is already done gives its
// own error and does nothing. After an error of another kind (a timeout, a lost
// connection) it is unknown whether the write happened; a store never repeats a
// write on its own account. After Close every method returns [ErrClosed].
package store

import (
	"context"
	"time"
)

// Store is what every backend has. Its capabilities are the other interfaces of
// this package.
type Store interface {
	// Traits describes the store. It is constant for the store's life and costs nothing.
	Traits() Traits
	// Delete removes keys, of whatever kind. Missing keys are no error.
	Delete(ctx context.Context, keys ...string) error
	// Close frees what the store opened itself; a client that the caller brought
	// stays open. A second Close does nothing.
	Close() error
}

// Counter counts: whole numbers from 0 to [Traits.MaxCounter].
type Counter interface {
	Store
	// Add adds delta to the counter in one atomic step and returns the new count.
	// A missing counter starts at zero with the given TTL; on one that exists the
	// TTL is not touched. A negative delta gives back: it stops at zero. On a missing
	// counter a delta of zero or less does nothing and returns zero. An addition that would pass
	// [Traits.MaxCounter] changes nothing and returns [ErrOverflow].
	Add(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error)
	// Read returns the counts of keys, in their order, zero for missing ones,
	// in one round trip.
	Read(ctx context.Context, keys ...string) ([]int64, error)
}

// Version names one state of one key, as [Swapper] saw it. It is opaque. The empty
// Version stands for "no such key".
type Version string

// Swapper offers compare-and-swap on whole values.
type Swapper interface {
	Store
	// Load returns the value and its version; of a missing key, nil and the empty
	// version. The caller owns the returned bytes.
	Load(ctx context.Context, key string) (value []byte, version Version, err error)
	// Swap stores value with the TTL if the key is still at version, and tells
	// whether it did. The empty version creates: it succeeds only where there is no
	// key. A key that expired, was deleted or was evicted since Load is "no such key".
	// The store does not keep value after Swap returns.
	Swap(ctx context.Context, key string, version Version, value []byte, ttl time.Duration) (swapped bool, err error)
}

// List keeps a list of short strings per key, newest first.
type List interface {
	Store
	// PushFront puts values before the list's head, the last one frontmost, sets the
	// key's TTL, and returns the new length.
	PushFront(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error)
	// Trim keeps the elements from start to stop, both included; negative numbers
	// count from the end. A list trimmed to nothing is removed.
	Trim(ctx context.Context, key string, start, stop int64) error
	// Index returns the element at i, negative from the end; ok is false if there is none.
	Index(ctx context.Context, key string, i int64) (value string, ok bool, err error)
	// Len returns the length, zero for a missing key.
	Len(ctx context.Context, key string) (int64, error)
}

// Member is one entry of a sorted set. Scores are whole numbers of at most 53 bits.
type Member struct {
	Score int64
	Name  string
}

// SortedSet keeps a set of names per key, ordered by score, then by name.
type SortedSet interface {
	Store
	// AddMembers adds members or moves those whose name exists, sets the key's TTL,
	// and returns how many were new.
	AddMembers(ctx context.Context, key string, ttl time.Duration, members ...Member) (int64, error)
	// RemoveUpTo removes all members with a score of at most max and returns how many.
	RemoveUpTo(ctx context.Context, key string, max int64) (int64, error)
	// Card returns the number of members, zero for a missing key.
	Card(ctx context.Context, key string) (int64, error)
	// Range returns the members ranked start to stop, both included, lowest first;
	// negative numbers count from the end.
	Range(ctx context.Context, key string, start, stop int64) ([]Member, error)
}

// Scripter runs a [Step] next to the data, atomically.
type Scripter interface {
	Store
	// Prepare readies a step for keys of one space. A key's full name, by which
	// Load, Delete and Size know it, is space + key. A store may keep each space
	// apart, so no space may be a prefix of another; Prepare may refuse one that is.
	Prepare(step *Step, space string) (Runner, error)
}

// Runner is a prepared step.
type Runner interface {
	// Run applies the step to one key in one atomic action and one round trip. With
	// [Args.OwnTime] the store sets [Args.Now] from its own clock. A state that the
	// step does not recognise is [ErrCorrupt] and stays as it is.
	Run(ctx context.Context, key string, args Args) (Reply, error)
}

// Clock is a store's own time.
type Clock interface {
	Store
	// Now returns the store's time. It is the clock that Run uses for [Args.OwnTime].
	Now(ctx context.Context) (time.Time, error)
}

// Footprint tells what keys cost.
type Footprint interface {
	Store
	// Size returns the bytes that the key really occupies in the store, its share of
	// the key table included where the store can tell; zero for a missing key.
	Size(ctx context.Context, key string) (int64, error)
}
