package hammer

import (
	"context"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store/memory"
)

// placeFreed reports whether time alone could have let one more through than the
// capacity: whether a limiter that was filled at from would admit again by to. Then
// a run between the two has no exact number to be held to. The algorithm itself is
// asked, in simulated time, so that aligned windows and refills need no rules here.
func placeFreed(a weir.Algorithm, limit weir.Limit, from, to time.Time) (bool, error) {
	if to.Before(from) { // the clock was set back
		return true, nil
	}
	now := from
	clock := func() time.Time { return now }
	st := memory.New(&memory.Options{Clock: clock})
	defer st.Close()
	l, err := weir.New(a, limit, st, &weir.Options{Clock: clock})
	if err != nil {
		return false, err
	}
	ctx := context.Background()
	for {
		d, err := l.Peek(ctx, "")
		if err != nil {
			return false, err
		}
		if d.Remaining == 0 {
			break
		}
		cost := d.Remaining
		if most := l.Plan().MaxCost; most > 0 {
			cost = min(cost, most)
		}
		if d, err = l.Take(ctx, "", cost); err != nil {
			return false, err
		} else if !d.Allowed {
			break
		}
	}
	now = to
	d, err := l.Peek(ctx, "")
	return err == nil && d.Remaining > 0, err
}
