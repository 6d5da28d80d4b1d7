package versus

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir/bench/peers"
)

// fillers is how many fill keys on a server at a time.
const fillers = 16

// keysPerLoad keeps the keys of loads with other numbers of events apart.
const keysPerLoad = 2_000_000

// warm begins keys that are there at both readings, so that scripts are loaded.
const warm = "warm-"

// clientKey returns a key of 16 characters. Each call makes a new string, as requests do.
func clientKey(i int) string { return fmt.Sprintf("client-%09d", i) }

// bytes measures what a key costs, by the growth of what is in use.
func (r *run) bytes(ctx context.Context, c *contender, load Load) error {
	m := Memory{Events: load.Events, Keys: load.Keys}
	limit := memoryLimit
	if c.waits {
		limit = waitLimit
	}
	limiter, err := c.open(limit, nil)
	if err != nil {
		return err
	}
	use, workers := heap, 1
	if c.Store != peers.Memory {
		workers = fillers
		if err := r.servers.empty(ctx); err != nil {
			return err
		}
		// What the first requests bring about, such as loaded scripts, must not be taken for the keys..
		use = func(ctx context.Context) (int64, error) {
			if err := fill(ctx, limiter, workers, Load{workers, 20}, warm); err != nil {
				return 0, err
			}
			return r.servers.used(ctx, c.Store)
		}
	}
	before, err := use(ctx)
	if err != nil {
		return err
	}
	if err := fill(ctx, limiter, workers, load, ""); err != nil {
		return err
	}
	after, err := use(ctx)
	if err != nil {
		return err
	}
	m.BytesPerKey = max(0, float64(after-before)/float64(load.Keys))
	if c.Store == peers.Memory && !slices.Contains(c.Cannot, peers.CannotSeparate) { // or it keeps no text
		m.BytesPerKey = max(0, m.BytesPerKey-float64(len(clientKey(0))))
	}
	c.Memory = append(c.Memory, m)
	return limiter.Close()
}

// fill makes each key's requests, in turns, so that no two of one key come at once.
func fill(ctx context.Context, limiter peers.Peer, workers int, load Load, prefix string) error {
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			for range load.Events {
				for i := w; i < load.Keys; i += workers {
					a, err := limiter.Take(ctx, prefix+clientKey(int(load.Events)*keysPerLoad+i), 1)
					if err != nil {
						return err
					}
					if !a.Allowed && prefix != warm {
						return fmt.Errorf("versus: the key %s is denied while it is filled", clientKey(i))
					}
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// heap is what lives after a collection, and a second one for what has finalizers.
func heap(context.Context) (int64, error) {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), nil
}
