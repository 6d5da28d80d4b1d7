package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir"
)

// crowd is the limit under which many callers meet.
var crowd = weir.Limit{Count: 20, Window: time.Hour}

func countsConcurrently(ctx context.Context, p *probe, s subject) error {
	for round := range 3 * p.suite.cfg.Effort {
		l, err := p.simulate(s, crowd)
		if err != nil {
			return err
		}
		all, err := l.crew(s, round)
		if err != nil {
			return err
		}
		if err := rush(ctx, all, fmt.Sprint("hot", round)); err != nil {
			return err
		}
	}
	return nil
}

// crewSize is how many limiters meet at the store, of those that share a key. The callers of one
// limiter may be decided together, and then the store never sees them meet.
const crewSize = 16

// crew returns as many limiters as there are processes in a crew, all with the one clock; each third time only l,
// so that those who are decided together are all of them.
func (l *limited) crew(s subject, round int) ([]*limited, error) {
	all := []*limited{l}
	for round%3 != 2 && len(all) < crewSize {
		another, err := l.p.limiter(s, l.Limit(), l.clock)
		if err != nil {
			return nil, err
		}
		all = append(all, another)
	}
	return all, nil
}

// countsByOwnTime does the same by the store's clock, which goes on: it starts again
// where a window ended meanwhile, and a place may have come back where the time allows it.
func countsByOwnTime(ctx context.Context, p *probe, s subject) error {
	l, err := p.limiter(s, crowd, nil)
	if err != nil {
		return err
	}
	for attempt := range 3 {
		all, err := l.crew(s, attempt)
		if err != nil {
			return err
		}
		started := time.Now()
		err = rush(ctx, all, fmt.Sprint("hot", attempt))
		ended := time.Now()
		if ended.Add(time.Second).Truncate(crowd.Window).After(started.Add(-time.Second)) ||
			ended.Sub(started) > crowd.Window/time.Duration(2*crowd.Count) {
			continue
		}
		return err
	}
	return inconclusivef("a window ended during each attempt")
}

// rush lets all callers take as much each that half of them fit, and then takes the rest. The
// callers are spread over the limiters.
func rush(ctx context.Context, all []*limited, key string) error {
	l := all[0]
	capacity, plan := l.Capacity(), l.Plan()
	if plan.Racy {
		return unsupportedf("the plan declares that it is not atomic")
	}
	cost := (capacity + callers/2 - 1) / (callers / 2)
	due := capacity / cost
	var admitted atomic.Int64
	remaining := make([]int64, callers)
	if err := together(func(i int) error {
		d, err := all[i%len(all)].take(ctx, key, cost)
		remaining[i] = -1
		if err == nil && d.Allowed {
			admitted.Add(1)
			remaining[i] = d.Remaining
		}
		return err
	}); err != nil {
		return err
	}
	// Where time goes on, a caller may have read the clock before the one that it follows: that
	// one microsecond can deny it, or round what remains down. It never admits too much.
	exact := l.clock != nil && !plan.Spurious
	n := admitted.Load()
	if n > due || n < due && exact || n == 0 {
		return failf("of %d callers that ask for %d each at one instant %d were admitted: the capacity is %d", callers, cost, n, capacity)
	}
	if rest := capacity - n*cost; rest > 0 {
		d, err := l.take(ctx, key, rest)
		if err != nil {
			return err
		}
		if !d.Allowed {
			return failf("%d callers at once took %d places, and then the other %d are denied", callers, n*cost, rest)
		}
	}
	d, err := l.take(ctx, key, 1)
	if err != nil {
		return err
	}
	if d.Allowed {
		return failf("%d callers at once and one after them took all of the capacity, %d, and one more is admitted", callers, capacity)
	}
	if !exact {
		return nil
	}
	slices.Sort(remaining)
	for i, r := range remaining[callers-n:] {
		if r < int64(i) {
			return failf("two of %d callers at one instant were told that %d remain", callers, r)
		}
	}
	return nil
}
