// Package memcache is the store on memcached, through gomemcache.
//
// Memcached counts atomically and, what is often forgotten, compares and swaps
// whole values, so a [Store] runs every algorithm that fits into one value. It
// tells no time, keeps no data structures and runs no scripts. It also evicts:
// short of memory it drops live keys, and a limiter then starts afresh, so that
// any bound reads "unless evicted".
//
// A TTL is rounded up to whole seconds, plus one, because the server expires keys
// on a tick of one second; above 30 days it is sent as a Unix time of this
// process's clock. Such a time fits until 2038-01-19: the longest TTL ends 30 days
// earlier, seen from the making of the store, and one that ends too late is an error.
//
// A key that memcached cannot carry (empty, above 250 bytes, with blanks or control
// characters) is replaced by its SHA-256.
//
// gomemcache knows no contexts, so the store adds them. A store that [Open] made
// closes the connection of a call whose context ends. On a client that the caller
// brought, to [New], such a call runs in a goroutine beside the caller, which is slower,
// and what is left of it ends by the client's own timeout. Either way the caller gets the
// context's error at once, and whether the call wrote is unknown. No write is ever
// repeated.
package memcache

import (
	"context"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"

	"github.com/weirlimits/weir/store"
)

const (
	// DefaultTimeout leaves room for one lost packet, which TCP sends again after
	// 200 ms or more, and for a server that is busy. Bound a single call more tightly by its context.
	DefaultTimeout = time.Second

	// DefaultMaxIdleConns is above the concurrency of most programs, and far below
	// the 1024 connections that memcached accepts.
	DefaultMaxIdleConns = 128
)

const (
	maxKey = 250

	// maxValue is the largest value, under the longest key, that a server with its
	// default item size of 1 MiB takes: less 48 bytes of header, 8 of CAS id, the key
	// and its NUL, and CRLF.
	maxValue = 1<<20 - (48 + 8 + maxKey + 1 + 2)
)

// Options are the settings of [Open]. The zero value and nil are the defaults.
type Options struct {
	// Timeout bounds each dial and each wait for a reply; zero means [DefaultTimeout].
	Timeout time.Duration

	// MaxIdleConns is how many idle connections are kept per server; zero means
	// [DefaultMaxIdleConns]. Each concurrent call above it dials anew.
	MaxIdleConns int

	// DialContext, if not nil, opens the connections: for TLS, the method of a
	// [crypto/tls.Dialer].
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

func (o *Options) withDefaults() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.Timeout < 0 {
		return opts, fmt.Errorf("memcache: Timeout %v: want above 0, or 0 for %v", opts.Timeout, DefaultTimeout)
	}
	if opts.MaxIdleConns < 0 {
		return opts, fmt.Errorf("memcache: MaxIdleConns %d: want at least 1, or 0 for %d", opts.MaxIdleConns, DefaultMaxIdleConns)
	}
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.MaxIdleConns == 0 {
		opts.MaxIdleConns = DefaultMaxIdleConns
	}
	if opts.DialContext == nil {
		opts.DialContext = new(net.Dialer).DialContext
	}
	return opts, nil
}

// Store is memcached as a counter and as compare-and-swap. It is safe for
// concurrent use.
type Store struct{ *core }

// CounterStore is memcached as a counter alone, for what stands behind the same
// protocol but has no compare-and-swap. It is safe for concurrent use.
type CounterStore struct{ *core }

var (
	_ store.Counter   = (*Store)(nil)
	_ store.Swapper   = (*Store)(nil)
	_ store.Footprint = (*Store)(nil)
	_ store.Counter   = (*CounterStore)(nil)
	_ store.Footprint = (*CounterStore)(nil)
)

// Capabilities of the two stores.
const (
	counterCapabilities = store.CapCounter | store.CapFootprint
	allCapabilities     = counterCapabilities | store.CapSwap
)

// core is what both stores share.
type core struct {
	pool     *pool              // of Open; nil on a client that the caller brought
	client   *gomemcache.Client // of New; nil where there is a pool
	selector gomemcache.ServerSelector
	closed   atomic.Bool
	maxTTL   time.Duration
	slabs    slabTables
}

// Open returns a store on servers, each "host:port" or the path of a Unix socket.
// Keys are spread over them, so every process must name the same servers in the same
// order. Host names are resolved now and never again; no connection is made before
// the first call.
func Open(servers []string, opts *Options) (*Store, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("memcache: servers: want at least one host:port")
	}
	for _, server := range servers {
		if err := checkServer(server); err != nil {
			return nil, err
		}
	}
	list := new(gomemcache.ServerList)
	if err := list.SetServers(servers...); err != nil {
		return nil, fmt.Errorf("memcache: servers: %w", err)
	}
	return &Store{&core{pool: newPool(list, len(servers), o), selector: list, maxTTL: longestTTL(time.Now())}}, nil
}

// New returns a store on the caller's client, whose settings it leaves alone and
// which Close leaves open. The client keeps to itself which server holds a key, and
// [Store.Size] must ask that server: selector is the one that the client was made with.
//
// The client's own default keeps two idle connections per server, so that more
// concurrent calls dial each time: set MaxIdleConns.
func New(client *gomemcache.Client, selector gomemcache.ServerSelector) (*Store, error) {
	if client == nil {
		return nil, fmt.Errorf("memcache: client is nil: want one from gomemcache.NewFromSelector")
	}
	if selector == nil {
		return nil, fmt.Errorf("memcache: selector is nil: want the one that the client was made with")
	}
	return &Store{&core{client: client, selector: selector, maxTTL: longestTTL(time.Now())}}, nil
}

func checkServer(server string) error {
	if strings.Contains(server, "/") {
		return nil
	}
	host, port, err := net.SplitHostPort(server)
	if err == nil && host != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 {
			return nil
		}
	}
	return fmt.Errorf("memcache: server %q: want host:port with a port from 1 to 65535, or the path of a Unix socket", server)
}

// CounterOnly returns the same store without compare-and-swap. Both share one
// client: closing either closes both.
func (s *Store) CounterOnly() *CounterStore { return &CounterStore{s.core} }

// Traits implements [store.Store].
func (s *Store) Traits() store.Traits { return s.traits(allCapabilities) }

// Traits implements [store.Store].
func (s *CounterStore) Traits() store.Traits { return s.traits(counterCapabilities) }

func (c *core) traits(capabilities store.Capability) store.Traits {
	return store.Traits{
		Name:         "memcache",
		Capabilities: capabilities,
		Clock:        store.CallerClock,
		TTLGrain:     time.Second,
		MaxTTL:       c.maxTTL,
		MaxKey:       maxKey,
		MaxValue:     maxValue,
		MaxCounter:   math.MaxInt64,
		Evicts:       true,
	}
}

// Delete implements [store.Store]. It makes one round trip per key and stops at the
// first error.
func (c *core) Delete(ctx context.Context, keys ...string) error {
	names := wireKeys(keys)
	_, err := do(ctx, c, "delete", func(client *gomemcache.Client) (struct{}, error) {
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return struct{}{}, err
			}
			if err := ignoreMiss(client.Delete(name)); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	return err
}

// Close implements [store.Store]. Calls under way end as they would have.
func (c *core) Close() error {
	if !c.closed.Swap(true) && c.pool != nil {
		c.pool.close()
	}
	return nil
}
