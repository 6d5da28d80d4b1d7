package hammer

import (
	"fmt"
	"net"
	"strings"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memory"
	"github.com/weirlimits/weir/store/redis"
)

// minPool is the least number of connections that a worker process may open.
const minPool = 32

// open opens the store of a worker process, and no more: the parent knows the server,
// has checked the URL, and removes what is written.
func open(url string, workers int) (store.Store, error) {
	scheme, rest, _ := strings.Cut(url, "://")
	pool := max(minPool, workers)
	switch scheme {
	case "memory:":
		return memory.New(nil), nil
	case "memcache", "memcache+counter":
		st, err := memcache.Open(withPort(strings.Split(strings.TrimSuffix(rest, "/"), ","), "11211"), &memcache.Options{MaxIdleConns: pool})
		if err != nil || scheme == "memcache" {
			return st, err
		}
		return st.CounterOnly(), nil
	case "redis", "rediss", "redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel":
		return redis.Open(fmt.Sprintf("%s?pool_size=%d", url, pool), nil)
	default:
		return nil, fmt.Errorf("hammer: worker: store scheme %q: want memory:, memcache, redis or one of their kinds", scheme)
	}
}

func withPort(hosts []string, port string) []string {
	for i, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			hosts[i] = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
	}
	return hosts
}
