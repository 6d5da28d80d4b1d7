package choose

import (
	"math"
	"strconv"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// lastExpiry is a month before memcached's clock ends.
var lastExpiry = time.Date(2037, 12, 19, 0, 0, 0, 0, time.UTC)

// Named describes a store of this module without opening it: "memory", "redis", "memcache", or "memcache+counter", which
// offers its counter alone. Redis is taken as it comes, with maxmemory-policy noeviction. Another name is a
// [weir.FieldError].
func Named(name string) (store.Traits, error) {
	const (
		values = store.CapCounter | store.CapSwap | store.CapFootprint
		all    = values | store.CapList | store.CapSortedSet | store.CapScript | store.CapClock
		day    = 24 * time.Hour
	)
	memcache := store.Traits{
		Name: "memcache", Capabilities: values, Clock: store.CallerClock, TTLGrain: time.Second,
		MaxTTL: max(30*day, time.Until(lastExpiry).Truncate(time.Hour)),
		MaxKey: 250, MaxValue: 1<<20 - 309, MaxCounter: math.MaxInt64, Evicts: true,
	}
	switch name {
	case "memory":
		return store.Traits{
			Name: name, Capabilities: all, Clock: store.ProcessClock, TTLGrain: time.Microsecond,
			MaxTTL: 100 * 365 * day, MaxValue: math.MaxInt32, MaxCounter: math.MaxInt64,
		}, nil
	case "redis":
		return store.Traits{
			Name: name, Capabilities: all, Clock: store.ServerClock, TTLGrain: time.Millisecond,
			MaxTTL: 100 * 365 * day, MaxValue: 512 << 20, MaxCounter: 1<<53 - 1,
		}, nil
	case "memcache":
		return memcache, nil
	case "memcache+counter":
		memcache.Capabilities = store.CapCounter | store.CapFootprint
		return memcache, nil
	}
	return store.Traits{}, &weir.FieldError{
		Field: "store", Value: strconv.Quote(name), Want: "memory, redis, memcache or memcache+counter",
	}
}
