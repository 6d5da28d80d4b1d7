package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
)

// chunkEvents is how many decisions are kept until they are handed on in order.
const chunkEvents = 1 << 14

// calls are commands to the server: those that it counted itself, and those that the plan declares
// for what was decided. Both are zero where the server does not count.
type calls struct{ server, declared int64 }

// decide takes every event through the store at the event's own time, and gives each decision to
// use in the order of the events. The decisions of different keys are made at once.
func decide(ctx context.Context, p pair, events []trace.Event, use func(trace.Event, weir.Decision) error) (calls, error) {
	c, err := newCrew(ctx, p, crewSize)
	if err != nil {
		return calls{}, err
	}
	before, err := p.backend.Calls(ctx)
	counted := !errors.Is(err, backend.ErrNotCounted)
	if counted && err != nil {
		return calls{}, err
	}
	var n calls
	seed := maphash.MakeSeed()
	decisions := make([]weir.Decision, min(len(events), chunkEvents))
	parts := make([][]int, len(c))
	for done := 0; done < len(events); done += chunkEvents {
		chunk := events[done:min(done+chunkEvents, len(events))]
		for i := range parts {
			parts[i] = parts[i][:0]
		}
		for i, e := range chunk {
			w := maphash.String(seed, e.Key) % uint64(len(c))
			parts[w] = append(parts[w], i)
		}
		err := c.each(ctx, func(ctx context.Context, part int, w *worker) error {
			for _, i := range parts[part] {
				e := chunk[i]
				d, err := w.take(ctx, e.Time, e.Key, e.Cost)
				if err != nil {
					return fmt.Errorf("event %d of %d: %w", done+i+1, len(events), err)
				}
				decisions[i] = d
			}
			return nil
		})
		if err != nil {
			return calls{}, err
		}
		for i, e := range chunk {
			n.declared += declared(c[0].limiter, e.Cost, decisions[i].Allowed)
			if err := use(e, decisions[i]); err != nil {
				return calls{}, err
			}
		}
	}
	if !counted {
		return calls{}, nil
	}
	after, err := p.backend.Calls(ctx)
	n.server = after - before
	return n, err
}

// declared returns the round trips of one decision by the limiter's plan. Peeks, and costs that
// are never admitted, only look.
func declared(l *weir.Weir, cost int64, allowed bool) int64 {
	switch {
	case cost == 0 || cost > l.Capacity():
		return 1
	case allowed:
		return int64(l.Plan().Trips)
	default:
		return int64(l.Plan().DeniedTrips)
	}
}
