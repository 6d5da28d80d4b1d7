package versus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/peers"
	"github.com/weirlimits/weir/internal/backend"
)

// servers are a run's own redis-server and memcached, and the one client of Redis that all rows share.
type servers struct {
	redis, memcache *backend.Backend
	client          *goredis.Client
	callers         int
}

func startServers(ctx context.Context, callers int) (*servers, error) {
	s := &servers{callers: callers}
	for _, b := range []struct {
		url string
		at  **backend.Backend
	}{{"redis:private", &s.redis}, {"memcache:private", &s.memcache}} {
		var err error
		if *b.at, err = backend.Open(ctx, b.url, nil); err != nil {
			return nil, errors.Join(err, s.close())
		}
		if stand := (*b.at).StandIn; stand != "" {
			return nil, errors.Join(fmt.Errorf("versus: %s: only %s is here: want the server itself on PATH", b.url, stand), s.close())
		}
	}
	s.client = goredis.NewClient(peers.ClientOptions(s.redis.Addr, callers))
	return s, nil
}

func (s *servers) close() error {
	var errs []error
	if s.client != nil {
		errs = append(errs, s.client.Close())
	}
	for _, b := range []*backend.Backend{s.redis, s.memcache} {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}

// backend returns the server of a store, nil for this process.
func (s *servers) backend(store string) *backend.Backend {
	switch store {
	case peers.Redis:
		return s.redis
	case peers.Memcache:
		return s.memcache
	}
	return nil
}

// environment is what package bench finds out, by a comparison in which nothing is measured.
func (s *servers) environment(ctx context.Context, seed uint64) (bench.Environment, error) {
	results, err := bench.Compare(ctx, bench.Config{
		Algorithms: []weir.Algorithm{algorithms.GCRA(nil)}, Backends: []*backend.Backend{s.redis, s.memcache}, Limit: preciseLimit,
		Scenarios: []bench.Scenario{}, Events: []int64{}, Callers: []int{}, Seed: seed,
	}, nil)
	if err != nil {
		return bench.Environment{}, err
	}
	return results.Environment, nil
}

// upkeep are commands that no decision consists of.
var upkeep = []string{"info", "hello", "client", "config", "flushall", "ping", "script"}

// commands are the server's counts of what decisions consist of: by command on Redis, those that scripts
// call included; together on memcached; none in this process.
func (s *servers) commands(ctx context.Context, store string) (map[string]int64, error) {
	counts := map[string]int64{}
	switch store {
	case peers.Memcache:
		n, err := s.memcache.Calls(ctx)
		if err != nil {
			return nil, err
		}
		counts["commands"] = n
	case peers.Redis:
		text, err := s.client.Info(ctx, "commandstats").Result()
		if err != nil {
			return nil, fmt.Errorf("versus: INFO commandstats: %w", err)
		}
		for line := range strings.Lines(text) {
			name, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":calls=")
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "|")
			digits, _, _ := strings.Cut(rest, ",")
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("versus: INFO commandstats: %q: want a count", line)
			}
			if !slices.Contains(upkeep, name) {
				counts[name] += n
			}
		}
	}
	return counts, nil
}

// empty removes all keys from Redis. Memcached would only forget them, and use their chunks again: there no two
// measures of one row share keys.
func (s *servers) empty(ctx context.Context) error {
	if err := s.client.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("versus: emptying Redis: %w", err)
	}
	return nil
}

// used returns the bytes in use. On Redis all other connections are ended first, as their buffers, which come
// and go, would be taken for the keys'; the pool dials anew.
func (s *servers) used(ctx context.Context, store string) (int64, error) {
	if store == peers.Redis {
		if err := s.client.Do(ctx, "client", "kill", "type", "normal", "skipme", "yes").Err(); err != nil {
			return 0, fmt.Errorf("versus: ending idle connections: %w", err)
		}
	}
	return s.backend(store).UsedMemory(ctx)
}
