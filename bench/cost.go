package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/backend"
)

const (
	costDecisions = 400
	costPerKey    = 50 // at most so many requests of one key
	costAttempts  = 4
	// steadyCounts is by what part two counts of the same work may differ where others use the server too.
	steadyCounts = 0.01
)

// inProcess is why there is no figure that only a server has.
const inProcess = "no server"

// measureCost finds what an admitted decision costs, by the server's own counts.
func measureCost(ctx context.Context, p pair) (Cost, error) {
	switch {
	case p.backend.StandIn != "":
		return Cost{NA: StandIn}, nil
	case p.backend.Kind == backend.KindMemory:
		return Cost{NA: inProcess}, nil
	}
	c, err := costOnce(ctx, p)
	if err != nil || c.NA != "" || !p.backend.Shared {
		return c, err
	}
	// What others did meanwhile cannot be told from what we did, except that it does not come twice.
	for range costAttempts {
		last := c
		if c, err = costOnce(ctx, p); err != nil || c.NA != "" {
			return c, err
		}
		if near(c.Trips, last.Trips) && near(c.Commands, last.Commands) && near(c.WireOut, last.WireOut) {
			return c, nil
		}
	}
	return Cost{NA: "others use the server"}, nil
}

func near(a, b float64) bool { return math.Abs(a-b) <= steadyCounts*max(a, b) }

func costOnce(ctx context.Context, p pair) (Cost, error) {
	limiter, err := weir.New(p.algorithm, p.limit, p.single(), &weir.Options{Prefix: p.backend.NewPrefix()})
	if err != nil {
		return Cost{}, err
	}
	// Less than half of what there is, so that an estimate that is too high denies nothing either.
	perKey := min(max(min(p.limit.Count, limiter.Capacity())/2, 1), costPerKey)
	var denied int64
	take := func(key int, n int64) error {
		for range n {
			d, err := limiter.Take(ctx, memoryKey(key), 1)
			if err != nil {
				return err
			}
			if !d.Allowed {
				denied++
			}
		}
		return nil
	}
	// The first request of a key may cost more, and is left out unless it is the only one.
	keys := int((costDecisions + perKey - 1) / perKey)
	if perKey > 1 {
		perKey--
		for k := range keys {
			if err := take(k, 1); err != nil {
				return Cost{}, err
			}
		}
	} else if _, err := limiter.Peek(ctx, "first"); err != nil {
		return Cost{}, err
	}
	used, err := p.backend.Usage(ctx, func() error {
		for k := range keys {
			if err := take(k, perKey); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Cost{}, err
	}
	if err := forget(ctx, limiter, keys); err != nil {
		return Cost{}, err
	}
	n := int64(keys) * perKey
	if denied > 0 {
		return Cost{NA: fmt.Sprintf("%d of %d requests were denied", denied, n)}, nil
	}
	each := func(sum int64) float64 { return float64(sum) / float64(n) }
	return Cost{
		Trips: each(used.Trips), Commands: each(used.Commands), ServerUS: each(used.ServerUS),
		WireOut: each(used.In), WireIn: each(used.Out), Decisions: n,
	}, nil
}

// forget deletes the first n keys.
func forget(ctx context.Context, l *weir.Weir, n int) error {
	for k := range n {
		if err := l.Reset(ctx, memoryKey(k)); err != nil {
			return err
		}
	}
	return nil
}

// used runs work and returns what the server counted, nothing where none counts for us alone.
func used(ctx context.Context, b *backend.Backend, work func() error) (backend.Usage, error) {
	if b.Shared {
		return backend.Usage{}, work()
	}
	u, err := b.Usage(ctx, work)
	if errors.Is(err, backend.ErrNotCounted) {
		return backend.Usage{}, work()
	}
	return u, err
}
