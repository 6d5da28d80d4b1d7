package bench

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir"
)

const (
	stallTimes = 5
	stallKeys  = 64 // of the client that waits, so that some are near the large key
	// stallTakes are the requests that trim. A log that trims in pieces of a thousand is through with its
	// hundred thousand by then.
	stallTakes = 128
)

// measureStall finds how long another client waits while n expired events of one key are trimmed, and how
// long where there is next to nothing to trim. Both are the least of some times: trimming takes its time in
// each of them, and what others do on the machine only adds.
func measureStall(ctx context.Context, p pair, n int64, most time.Duration) (Stall, error) {
	if p.backend.StandIn != "" {
		return Stall{Events: n, NA: StandIn}, nil
	}
	s := Stall{Events: n}
	na, err := within(ctx, most, heldLimit(p.limit, n), func(ctx context.Context) error {
		var longest, idle []float64
		for range stallTimes {
			for _, one := range []struct {
				n    int64
				into *[]float64
			}{{1, &idle}, {n, &longest}} {
				waited, err := stallOnce(ctx, p, one.n)
				if err != nil {
					return err
				}
				*one.into = append(*one.into, float64(waited.Nanoseconds())/1000)
			}
		}
		s.LongestUS, s.IdleUS = slices.Min(longest), slices.Min(idle)
		return nil
	})
	if na != "" {
		s = Stall{Events: n, NA: na}
	}
	return s, err
}

// stallOnce lets n events expire, and returns the longest time that a client waits who looks at other keys
// while they are trimmed.
func stallOnce(ctx context.Context, p pair, n int64) (longest time.Duration, err error) {
	h, err := newHeld(ctx, p, n, 1)
	if err != nil {
		return 0, err
	}
	other, err := weir.New(p.algorithm, h.pair.limit, p.single(), &weir.Options{Prefix: p.backend.NewPrefix()})
	if err != nil {
		return 0, err
	}
	keys := make([]string, stallKeys)
	for i := range keys {
		keys[i] = memoryKey(i + 1)
		if _, err := other.Take(ctx, keys[i], 1); err != nil {
			return 0, err
		}
	}
	h.next += 2 * n // by then all have left
	done, looking := make(chan struct{}), make(chan struct{})
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		for i := 0; ; i++ {
			start := time.Now()
			_, err := other.Peek(groupCtx, keys[i%len(keys)])
			longest = max(longest, time.Since(start))
			if i == 0 {
				close(looking)
			}
			if err != nil {
				return err
			}
			select {
			case <-done:
				return nil
			default:
			}
		}
	})
	group.Go(func() error {
		defer close(done)
		<-looking
		for range stallTakes {
			if err := h.take(groupCtx, 1); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if err := h.limiter.Reset(ctx, h.key); err != nil {
		return 0, err
	}
	for _, key := range keys {
		if err := other.Reset(ctx, key); err != nil {
			return 0, err
		}
	}
	return longest, nil
}
