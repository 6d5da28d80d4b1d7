// Package backend opens the stores that the program is pointed at by URL, starts a
// private server or a stand-in where asked to, and asks each server what it alone can
// tell: how many commands it counted and how much memory it uses.
//
// The URLs are
//
//	memory:
//	redis://[user:password@]host[:6379][/database]    rediss:// for TLS
//	redis+cluster://[user:password@]host[:6379],host...
//	redis+sentinel://[user:password@]host[:26379],host.../name[/database]
//	memcache://host[:11211],host...                   memcache+counter:// offers its counter alone
//	redis:private  memcache:private  memcache+counter:private
//
// # Guests and hosts
//
// A server that this package did not start is a guest's house. Keys go only under
// the random prefixes of [Backend.NewPrefix], [Backend.Cleanup] deletes those and no
// others, nothing is flushed or configured, and [Backend.GuardMemory] tells when a run
// has used more memory than it may.
package backend

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// The errors on which callers branch.
var (
	// ErrUnreachable: no server answers at the address.
	ErrUnreachable = errors.New("backend: no server answers")
	// ErrNotCounted: nobody counts that, or what counts it is a stand-in whose numbers
	// mean nothing.
	ErrNotCounted = errors.New("backend: not counted")
)

// The kinds of backend.
const (
	KindMemory   = "memory"
	KindRedis    = "redis"
	KindMemcache = "memcache"
)

// DefaultMemoryCap is by how many bytes a server of somebody else may grow.
const DefaultMemoryCap = 256 << 20

// Options are the rarely changed properties of a [Backend].
type Options struct {
	// Callers is how many will call at once; connection pools are made for so many.
	// Zero leaves that to the stores.
	Callers int
	// MemoryCap is by how many bytes the memory of a server of somebody else may grow
	// before [Backend.GuardMemory] fails; zero means [DefaultMemoryCap].
	MemoryCap int64
}

// Backend is an opened store URL. It is safe for concurrent use.
type Backend struct {
	Store   store.Store
	Single  store.Store // the same, but each decision is a round trip of its own; Store, or nil, where it gathers none
	Name    string      // the URL as given, without credentials
	Kind    string      // [KindMemory], [KindRedis] or [KindMemcache]
	Server  string      // "Redis 7.0.15", "memcached 1.6.18", "this process (go1.26)", "miniredis"
	StandIn string      // "miniredis" or "in-process memcached" where no real server runs; else empty
	Shared  bool        // a server that we did not start: a guest's house
	Addr    string      // host:port of the (first) server; empty for memory
	Notes   []string    // what the user should know, a line each

	target    target
	house     house
	stop      func() error // ends what Open started
	run       string       // begins every prefix
	prefixes  atomic.Int64
	memoryCap int64
	baseline  int64 // used memory when opened, where it is guarded
	closed    atomic.Bool
}

// house is what a backend asks of its server beside the store.
type house interface {
	// calls counts the commands that decisions are made of.
	calls(ctx context.Context) (int64, error)
	// memory returns the bytes in use and the most there may be, zero for no such bound.
	memory(ctx context.Context) (used, most int64, err error)
	// usage reads the server's statistics.
	usage(ctx context.Context) (reading, error)
	// cleanup deletes the keys that begin with prefix and returns how many.
	cleanup(ctx context.Context, prefix string) (int, error)
	// close closes what the store does not.
	close() error
}

// Check returns the error that [Open] would give for the URL's form, without
// connecting. It names the part that is wrong and what would be valid, in one line, and
// holds no credential.
func Check(url string) error {
	_, err := parse(url)
	return err
}

// Open opens a store URL. A nil opts means the defaults. ctx bounds the opening alone;
// what was started runs until [Backend.Close], or until this process ends.
//
// The error is [ErrUnreachable] where no server answers, and holds no credential.
func Open(ctx context.Context, url string, opts *Options) (*Backend, error) {
	if opts == nil {
		opts = &Options{}
	}
	if opts.Callers < 0 {
		return nil, fmt.Errorf("backend: Callers %d: want at least 1, or 0 for the stores' defaults", opts.Callers)
	}
	if opts.MemoryCap < 0 {
		return nil, fmt.Errorf("backend: MemoryCap %d: want bytes above 0, or 0 for %d", opts.MemoryCap, DefaultMemoryCap)
	}
	t, err := parse(url)
	if err != nil {
		return nil, err
	}
	b := &Backend{
		Name: t.name, Kind: t.kind, Shared: t.kind != KindMemory && !t.private,
		target: t, stop: func() error { return nil },
		run: "weir-" + rand.Text()[:12], memoryCap: opts.MemoryCap,
	}
	if b.memoryCap == 0 {
		b.memoryCap = DefaultMemoryCap
	}
	if err := b.open(ctx, opts); err != nil {
		return nil, errors.Join(err, b.stop())
	}
	if b.Single == nil {
		b.Single = b.Store
	}
	return b, nil
}

func (b *Backend) open(ctx context.Context, opts *Options) error {
	if b.Kind == KindMemory {
		b.openMemory()
		return ctx.Err()
	}
	if b.target.private {
		if err := b.startPrivate(ctx); err != nil {
			return err
		}
	}
	b.Addr = b.target.addrs[0]
	if b.Kind == KindRedis {
		return b.openRedis(ctx, opts)
	}
	return b.openMemcache(ctx, opts)
}

// Calls returns how many commands the server itself has counted that decisions are
// made of; what matters is its growth. Redis counts scripts, and what a script calls
// inside is not added; a plan of plain commands is therefore not counted there.
// Memcached counts gets, writes and changes of counters, and the creation of a counter
// once. On a shared server the commands of others are in it. The error is
// [ErrNotCounted] in this process and for stand-ins.
func (b *Backend) Calls(ctx context.Context) (int64, error) {
	if b.Kind == KindMemory || b.StandIn != "" {
		return 0, ErrNotCounted
	}
	n, err := b.house.calls(ctx)
	if err != nil {
		return 0, b.failed("counting calls", err)
	}
	return n, nil
}

// UsedMemory returns how many bytes are in use: on Redis used_memory, on memcached the
// chunks of its slabs that hold items, in this process the live heap after a garbage
// collection. Several servers are summed. The error is [ErrNotCounted] for stand-ins.
func (b *Backend) UsedMemory(ctx context.Context) (int64, error) {
	if b.StandIn != "" {
		return 0, ErrNotCounted
	}
	used, _, err := b.house.memory(ctx)
	if err != nil {
		return 0, b.failed("reading the used memory", err)
	}
	return used, nil
}

// MaxMemory returns the bytes that the server may use, zero where nothing bounds them.
// The error is [ErrNotCounted] for stand-ins.
func (b *Backend) MaxMemory(ctx context.Context) (int64, error) {
	if b.StandIn != "" {
		return 0, ErrNotCounted
	}
	_, most, err := b.house.memory(ctx)
	if err != nil {
		return 0, b.failed("reading the memory bound", err)
	}
	return most, nil
}

// GuardMemory returns an error if a shared server uses more memory than when it was
// opened by more than [Options.MemoryCap]. It is for runs to call now and then, and to
// stop at its error. Whoever else fills the server is counted too.
func (b *Backend) GuardMemory(ctx context.Context) error {
	if !b.Shared {
		return nil
	}
	used, err := b.UsedMemory(ctx)
	if err != nil {
		return err
	}
	if grown := used - b.baseline; grown > b.memoryCap {
		return fmt.Errorf("backend: %s: used memory grew by %d MiB since the start: want at most %d MiB on a server that others use",
			b.Name, grown>>20, b.memoryCap>>20)
	}
	return nil
}

// NewPrefix returns a prefix for [weir.Options.Prefix] that no other has: random, and
// remembered for [Backend.Cleanup].
func (b *Backend) NewPrefix() string {
	return b.allKeys() + strconv.FormatInt(b.prefixes.Add(1), 36)
}

// Remember adds keys to those that [Backend.Cleanup] deletes: on memcached, which lists
// none, keys that another process wrote under a prefix of this one. Keys under other
// prefixes are left alone.
func (b *Backend) Remember(keys ...string) {
	if h, ok := b.house.(*memcacheHouse); ok {
		for _, key := range keys {
			h.keys.wrote(key)
		}
	}
}

// allKeys begins every key under the prefixes handed out, and no other key.
func (b *Backend) allKeys() string { return b.run + "." }

// cleanupTimeout bounds a cleanup, whose caller may be on its way out.
const cleanupTimeout = time.Minute

// Cleanup deletes every key under the prefixes handed out and returns how many. It
// goes on, for at most a minute, also where ctx is done: after an interrupt it matters
// most. On memcached, which lists no keys, it deletes those that the Store was asked to
// write, gone ones included. In this process, where the keys go with their TTL or with
// Close, it deletes nothing.
func (b *Backend) Cleanup(ctx context.Context) (removed int, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	removed, err = b.house.cleanup(ctx, b.allKeys())
	if err != nil {
		return removed, b.failed(fmt.Sprintf("cleanup: keys that begin with %q may be left, until their TTL ends", b.allKeys()), err)
	}
	return removed, nil
}

// At returns the URL, credentials included, of the same server reached at addr, such
// as a proxy's; with Addr itself, that by which another process reaches a private server. The
// error says where there is not exactly one server.
func (b *Backend) At(addr string) (url string, err error) {
	if len(b.target.addrs) != 1 || b.target.cluster || b.target.master != "" {
		return "", fmt.Errorf("backend: %s: another address: want a URL of exactly one server", b.Name)
	}
	if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
		return "", fmt.Errorf("backend: %s: address %q: want host:port", b.Name, addr)
	}
	return b.target.at(addr), nil
}

// Close deletes what a shared server was left with, closes the store, and stops what
// Open started. It is called when no call on the Store is under way any more. A second
// Close does nothing.
func (b *Backend) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	var errs []error
	if b.Shared {
		_, err := b.Cleanup(context.Background())
		errs = append(errs, err)
	}
	return errors.Join(append(errs, b.Store.Close(), b.house.close(), b.stop())...)
}

func (b *Backend) failed(doing string, err error) error {
	return fmt.Errorf("backend: %s: %s: %w", b.Name, doing, err)
}
