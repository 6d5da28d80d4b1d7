package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/weirlimits/weir/store/redis"
)

// minPool is the least number of connections to each server.
const minPool = 32

// oneByOne is a batch of one: an algorithm's own speed, and the calls that its plan declares.
const oneByOne = 1

func (b *Backend) openRedis(ctx context.Context, opts *Options) error {
	if err := b.reachAny(ctx); err != nil {
		return err
	}
	h := &redisHouse{client: goredis.NewUniversalClient(b.target.redisOptions(opts.Callers))}
	if err := b.greetRedis(ctx, h); err != nil {
		return errors.Join(err, h.close())
	}
	b.house = h
	return nil
}

// reachAny dials the addresses until one answers: the client's own attempts would
// write to the log.
func (b *Backend) reachAny(ctx context.Context) error {
	var first error
	for _, addr := range b.target.addrs {
		conn, err := dial(ctx, addr)
		if err == nil {
			return conn.Close()
		}
		if first == nil {
			first = b.unreachable(ctx, addr, err)
		}
	}
	return first
}

func (t *target) redisOptions(callers int) *goredis.UniversalOptions {
	o := &goredis.UniversalOptions{
		Addrs: t.addrs, MasterName: t.master, IsClusterMode: t.cluster,
		Username: t.user, Password: t.password, DB: t.database,
		MaxRetries: -1, ContextTimeoutEnabled: true,
		DialTimeout:              reachTimeout,
		DialerRetries:            1,
		PoolSize:                 max(minPool, callers, 10*runtime.GOMAXPROCS(0)),
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if t.tls {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// greetRedis asks the server who it is, and makes the store.
func (b *Backend) greetRedis(ctx context.Context, h *redisHouse) error {
	if err := h.client.Ping(ctx).Err(); err != nil {
		return b.explainRedis(ctx, err)
	}
	if b.StandIn != "" {
		b.Server = b.StandIn
		b.Store = redis.New(h.client, &redis.Options{MaxBatch: oneByOne})
		return nil
	}
	about, err := h.info(ctx, "server")
	if err != nil {
		return b.explainRedis(ctx, err)
	}
	sizes, err := h.info(ctx, "memory")
	if err != nil {
		return b.explainRedis(ctx, err)
	}
	b.Server = serverName(about[0])
	noEviction := true
	for _, node := range sizes {
		noEviction = noEviction && node["maxmemory_policy"] == "noeviction"
	}
	b.baseline, _, err = sumMemory(sizes)
	if err != nil {
		return b.failed("INFO memory", err)
	}
	b.Store = redis.New(h.client, &redis.Options{NoEviction: noEviction, MaxBatch: oneByOne})
	return nil
}

// explainRedis tells a server that answers no from one that does not answer.
func (b *Backend) explainRedis(ctx context.Context, err error) error {
	var answer goredis.Error
	if errors.As(err, &answer) {
		return fmt.Errorf("backend: %s: the server at %s refuses: %w", b.Name, b.Addr, err)
	}
	return b.unreachable(ctx, b.Addr, err)
}

// serverName reads INFO server. What speaks Redis's protocol tells Redis's version as
// well as its own.
func serverName(info map[string]string) string {
	for _, known := range []struct{ field, name string }{
		{"valkey_version", "Valkey"}, {"dragonfly_version", "Dragonfly"}, {"redis_version", "Redis"},
	} {
		if version := info[known.field]; version != "" {
			return known.name + " " + version
		}
	}
	return "Redis"
}

// redisHouse is a Redis server, or all primaries of a cluster.
type redisHouse struct{ client goredis.UniversalClient }

// each runs fn on every primary, one after another.
func (h *redisHouse) each(ctx context.Context, fn func(c goredis.UniversalClient) error) error {
	cluster, ok := h.client.(*goredis.ClusterClient)
	if !ok {
		return fn(h.client)
	}
	var turn sync.Mutex
	return cluster.ForEachMaster(ctx, func(_ context.Context, c *goredis.Client) error {
		turn.Lock()
		defer turn.Unlock()
		return fn(c)
	})
}

// info returns a section of INFO from every primary.
func (h *redisHouse) info(ctx context.Context, section string) (nodes []map[string]string, err error) {
	err = h.each(ctx, func(c goredis.UniversalClient) error {
		text, err := c.Info(ctx, section).Result()
		if err != nil {
			return err
		}
		fields := map[string]string{}
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				fields[name] = value
			}
		}
		nodes = append(nodes, fields)
		return nil
	})
	if err == nil && len(nodes) == 0 {
		err = errors.New("the cluster has no primary")
	}
	return nodes, err
}

// calls counts the scripts that ran. One that the server did not know counts as failed
// and is sent again.
func (h *redisHouse) calls(ctx context.Context) (int64, error) {
	nodes, err := h.info(ctx, "commandstats")
	var total int64
	for _, node := range nodes {
		for _, command := range []string{"evalsha", "eval"} {
			for part := range strings.SplitSeq(node["cmdstat_"+command], ",") {
				name, value, _ := strings.Cut(part, "=")
				n, _ := strconv.ParseInt(value, 10, 64) // other parts hold fractions
				switch name {
				case "calls":
					total += n
				case "failed_calls":
					total -= n
				}
			}
		}
	}
	return total, err
}

func (h *redisHouse) memory(ctx context.Context) (used, most int64, err error) {
	nodes, err := h.info(ctx, "memory")
	if err != nil {
		return 0, 0, err
	}
	return sumMemory(nodes)
}

// sumMemory reads INFO memory; where one primary has no bound, all together have none.
func sumMemory(nodes []map[string]string) (used, most int64, err error) {
	bounded := true
	for _, node := range nodes {
		n, err := strconv.ParseInt(node["used_memory"], 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("used_memory %q: want a number", node["used_memory"])
		}
		used += n
		n, _ = strconv.ParseInt(node["maxmemory"], 10, 64) // absent: unbounded
		most += n
		bounded = bounded && n > 0
	}
	if !bounded {
		most = 0
	}
	return used, most, nil
}

func (h *redisHouse) close() error { return h.client.Close() }
