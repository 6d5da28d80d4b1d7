package bench

import (
	"context"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// held is a key that holds n events, evenly spread over one window, in simulated time. The limit has a
// quarter more places, so that an estimate that is too high denies nothing.
type held struct {
	*worker
	pair   pair
	key    string
	n      int64
	next   int64 // the event that comes next
	prefix string
}

func heldLimit(l weir.Limit, n int64) weir.Limit {
	l.Count = max(l.Count, n+n/4+1)
	return l
}

// newHeld makes the key. Its oldest events came one by one, so many that as many can leave one by one.
func newHeld(ctx context.Context, p pair, n, oneByOne int64) (*held, error) {
	p.limit = heldLimit(p.limit, n)
	h := &held{pair: p, key: memoryKey(0), n: n, prefix: p.backend.NewPrefix()}
	var err error
	if h.worker, err = newWorker(p, p.single(), h.prefix); err != nil {
		return nil, err
	}
	plan := h.limiter.Plan()
	copies := plan.MaxCost == 0 && plan.Step != nil && len(h.limiter.Keys(h.key)) == 1
	switch {
	case p.backend.Kind == backend.KindMemory:
		err = h.fill(ctx, n, 1)
	case copies:
		err = h.copyIn(ctx)
	default:
		// The others fill fast, by requests of a higher cost.
		if err = h.fill(ctx, min(n, oneByOne), 1); err == nil {
			err = h.fill(ctx, n, mostAtOnce(h.limiter))
		}
	}
	return h, err
}

// at is when the i-th event comes: n later, it leaves.
func (h *held) at(i int64) int64 {
	return memoryStart(h.pair.limit.Window) + share(h.pair.limit.Window.Microseconds(), i, h.n)
}

// fill brings events up to n in all, so many at once.
func (h *held) fill(ctx context.Context, n, cost int64) error {
	for h.next < n {
		cost := min(cost, n-h.next)
		if err := h.take(ctx, cost); err != nil {
			return err
		}
	}
	return nil
}

// take asks for the next event, or for several at the time of the last one.
func (h *held) take(ctx context.Context, cost int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.next += cost
	d, err := h.worker.take(ctx, h.at(h.next-1), h.key, cost)
	if err == nil && !d.Allowed {
		err = &notAdmittedError{admitted: h.next - cost, of: h.next}
	}
	return err
}

// copyIn fills the key of a store in this process, which is quick, and copies its state: it is the same
// bytes everywhere.
func (h *held) copyIn(ctx context.Context) error {
	scratch := memory.New(nil)
	defer scratch.Close()
	there := h.worker
	here, err := newWorker(h.pair, scratch, h.prefix)
	if err != nil {
		return err
	}
	h.worker = here
	err = h.fill(ctx, h.n, 1)
	h.worker = there
	if err != nil {
		return err
	}
	name := h.limiter.Keys(h.key)[0]
	state, _, err := scratch.Load(ctx, name)
	if err != nil {
		return err
	}
	swapper, ok := h.pair.backend.Store.(store.Swapper)
	if !ok {
		return errNoCopy
	}
	created, err := swapper.Swap(ctx, name, "", state, store.HousekeepingTTL)
	if err == nil && !created {
		err = errNoCopy
	}
	return err
}

// size is the store's own figure for all that belongs to the key, zero where it has none.
func (h *held) size(ctx context.Context) (sum int64, err error) {
	return sizeOf(ctx, h.pair.backend.Store, h.limiter, h.key)
}
