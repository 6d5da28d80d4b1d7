package backend

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirlimits/weir/store/memcache"
)

func (b *Backend) openMemcache(ctx context.Context, opts *Options) error {
	h := &memcacheHouse{addrs: b.target.addrs}
	for i, addr := range h.addrs {
		stats, err := askStats(ctx, addr, "stats")
		var refused refusal
		switch {
		case errors.As(err, &refused):
			return fmt.Errorf("backend: %s: the server at %s refuses: %w", b.Name, addr, err)
		case err != nil:
			return b.unreachable(ctx, addr, err)
		case b.StandIn != "":
			b.Server = b.StandIn
		case i == 0:
			b.Server = "memcached " + stats["version"]
		}
	}
	if b.Shared {
		var err error
		if b.baseline, _, err = h.memory(ctx); err != nil {
			return b.failed("reading the used memory", err)
		}
	}
	st, err := memcache.Open(b.target.addrs, &memcache.Options{
		MaxIdleConns: max(memcache.DefaultMaxIdleConns, opts.Callers),
	})
	if err != nil {
		return fmt.Errorf("backend: %s: %w", b.Name, err)
	}
	h.keys = newKeyRecord(b.allKeys(), st)
	b.house, b.Store = h, &swapRecorder{recorder{st, h.keys}, st}
	if b.target.counterOnly {
		b.Store = &recorder{st.CounterOnly(), h.keys}
	}
	return nil
}

// memcacheHouse is one or several memcached servers.
type memcacheHouse struct {
	addrs []string
	keys  *keyRecord
}

// sum adds up what f makes of each server's statistics.
func (h *memcacheHouse) sum(ctx context.Context, command string, f func(stats map[string]string) (int64, error)) (total int64, err error) {
	for _, addr := range h.addrs {
		stats, err := askStats(ctx, addr, command)
		if err != nil {
			return 0, fmt.Errorf("%s at %s: %w", command, addr, err)
		}
		n, err := f(stats)
		if err != nil {
			return 0, fmt.Errorf("%s at %s: %w", command, addr, err)
		}
		total += n
	}
	return total, nil
}

// calls leaves out the misses of incr: the addition that follows is in cmd_set.
func (h *memcacheHouse) calls(ctx context.Context) (int64, error) {
	return h.sum(ctx, "stats", func(stats map[string]string) (total int64, err error) {
		for _, name := range []string{"cmd_get", "cmd_set", "incr_hits", "decr_hits", "decr_misses"} {
			n, err := number(stats, name)
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	})
}

func (h *memcacheHouse) memory(ctx context.Context) (used, most int64, err error) {
	used, err = h.sum(ctx, "stats slabs", func(stats map[string]string) (total int64, err error) {
		for name := range stats {
			class, ok := strings.CutSuffix(name, ":used_chunks")
			if !ok {
				continue
			}
			chunks, err := number(stats, name)
			if err != nil {
				return 0, err
			}
			size, err := number(stats, class+":chunk_size")
			if err != nil {
				return 0, err
			}
			total += chunks * size
		}
		return total, nil
	})
	if err != nil {
		return 0, 0, err
	}
	most, err = h.sum(ctx, "stats", func(stats map[string]string) (int64, error) { return number(stats, "limit_maxbytes") })
	return used, most, err
}

func (h *memcacheHouse) cleanup(ctx context.Context, _ string) (int, error) {
	return h.keys.delete(ctx)
}

func (h *memcacheHouse) close() error { return h.keys.store.Close() }

func number(stats map[string]string, name string) (int64, error) {
	n, err := strconv.ParseInt(stats[name], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s %q: want a number", name, stats[name])
	}
	return n, nil
}

// refusal is what a server answers in place of statistics.
type refusal string

func (r refusal) Error() string { return string(r) }

// maxStats bounds how many lines of statistics are read.
const maxStats = 10_000

// askStats asks on a connection of its own: gomemcache has no command for statistics.
func askStats(ctx context.Context, addr, command string) (map[string]string, error) {
	conn, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return nil, err
	}
	stats := map[string]string{}
	lines := bufio.NewScanner(conn)
	for range maxStats {
		if !lines.Scan() {
			break
		}
		line := lines.Text()
		if line == "END" {
			return stats, nil
		}
		stat, ok := strings.CutPrefix(line, "STAT ")
		if !ok {
			return nil, refusal(fmt.Sprintf("it answers %.80q to %q", line, command))
		}
		name, value, _ := strings.Cut(stat, " ")
		stats[name] = value
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("no end in the answer to %q", command)
}
