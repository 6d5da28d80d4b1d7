package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"

	goredis "github.com/redis/go-redis/v9"
)

// Options are the rarely changed properties of a [Store].
type Options struct {
	// NoEviction states that the server's maxmemory-policy is noeviction, so that it
	// refuses writes where it would otherwise drop live keys. It is not verified.
	NoEviction bool
	// TLS replaces the TLS settings of a rediss URL: own authorities, a client's
	// certificate. It must be nil with any other URL. New ignores it.
	TLS *tls.Config
	// MaxBatch is how many decisions share a round trip at most, 1 to 512; see the
	// package's documentation. With 1 each makes its own. Zero means 512.
	MaxBatch int
	// Trips is how many round trips to one server are under way before further callers
	// share the next, 1 to 1,000. Zero means 2.
	Trips int
}

// check returns an error that names what is wrong.
func (o *Options) check() error {
	if o.MaxBatch < 0 || o.MaxBatch > maxBatch {
		return fmt.Errorf("redis: Options.MaxBatch: %d: want 1 to %d, or 0 for the default", o.MaxBatch, maxBatch)
	}
	if o.Trips < 0 || o.Trips > maxTrips {
		return fmt.Errorf("redis: Options.Trips: %d: want 1 to %d, or 0 for the default", o.Trips, maxTrips)
	}
	return nil
}

// minPool is the least number of connections to each server that a busy store may open.
const minPool = 32

// Open returns a store with a client of its own, which Close closes. A nil opts means
// the defaults. It makes no connection: whether the server answers shows in the first
// call. URLs are
//
//	redis://[user:password@]host[:6379][/database]
//	redis+cluster://[user:password@]host[:6379],host...
//	redis+sentinel://[user:password@]host[:26379],host.../primary's name[/database]
//
// and with rediss in place of redis the connections are TLS. A user that is empty is
// "default"; user and password are percent-encoded and go to the data's servers, not to
// Sentinel. Parameters after a "?":
//
//	dial_timeout, read_timeout, write_timeout   durations, such as 500ms
//	pool_size                                   connections per server
//	client_name                                 as CLIENT LIST shows it
//	protocol                                    2 or 3
//	skip_verify                                 true: with TLS, trust any certificate
//	batch                                       Options.MaxBatch, which it replaces
//	trips                                       Options.Trips, which it replaces
//
// The error names the part of the URL that is wrong, and never holds the password.
func Open(url string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	o, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	if opts.TLS != nil {
		if o.TLSConfig == nil {
			return nil, errors.New("redis: Options.TLS with a URL without TLS: want a scheme that begins with rediss")
		}
		o.TLSConfig = opts.TLS.Clone()
	}
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.DialerRetries = 1 // a refused connection is an error at once, not after pauses of 100 ms
	if o.PoolSize == 0 {
		o.PoolSize = max(minPool, 10*runtime.GOMAXPROCS(0))
	}
	own := *opts
	if o.batch != 0 {
		own.MaxBatch = o.batch
	}
	if o.trips != 0 {
		own.Trips = o.trips
	}
	if err := own.check(); err != nil {
		return nil, err
	}
	s := New(goredis.NewUniversalClient(o.UniversalOptions), &own)
	s.owned = true
	return s, nil
}
