package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
)

// Difference is one event that two stores decided differently, by one algorithm.
type Difference struct {
	Algorithm string
	Index     int // of the event
	Event     trace.Event
	Stores    [2]string
	Decisions [2]weir.Decision
}

func (d *Difference) String() string {
	say := func(i int) string {
		return fmt.Sprintf("%s: allowed %t, remaining %d, retry after %v",
			d.Stores[i], d.Decisions[i].Allowed, d.Decisions[i].Remaining, d.Decisions[i].RetryAfter)
	}
	return fmt.Sprintf("%s, event %d (key %q, cost %d, at %d us): %s; %s",
		d.Algorithm, d.Index+1, d.Event.Key, d.Event.Cost, d.Event.Time, say(0), say(1))
}

// Parity decides the events by one algorithm on every backend that can run it, and compares allowed,
// remaining and retry-after of each decision with those on the first. It returns the first difference,
// nil if there is none, and how many backends ran.
func Parity(ctx context.Context, a weir.Algorithm, limit weir.Limit, backends []*backend.Backend, events []trace.Event) (*Difference, int, error) {
	if err := checkPairs([]weir.Algorithm{a}, backends, limit); err != nil {
		return nil, 0, err
	}
	if err := checkEvents(events); err != nil {
		return nil, 0, err
	}
	var first []weir.Decision
	var firstStore string
	var difference *Difference
	ran := 0
	for _, p := range pairs([]weir.Algorithm{a}, backends, limit) {
		missing, err := p.unsupported()
		if err != nil {
			return nil, ran, err
		}
		if missing != nil {
			continue
		}
		i := 0
		_, err = decide(ctx, p, events, func(e trace.Event, d weir.Decision) error {
			defer func() { i++ }()
			if ran == 0 {
				firstStore = p.backend.Name
				first = append(first, d)
				return nil
			}
			if f := first[i]; f.Allowed != d.Allowed || f.Remaining != d.Remaining || f.RetryAfter != d.RetryAfter {
				difference = &Difference{
					Algorithm: a.String(), Index: i, Event: e,
					Stores: [2]string{firstStore, p.backend.Name}, Decisions: [2]weir.Decision{f, d},
				}
				return errDiffers
			}
			return nil
		})
		ran++
		switch {
		case errors.Is(err, errDiffers):
			return difference, ran, nil
		case err != nil:
			return nil, ran, fmt.Errorf("bench: %s: %w", p, err)
		}
	}
	return nil, ran, nil
}

// errDiffers ends the deciding at the first difference.
var errDiffers = errors.New("bench: decisions differ")
