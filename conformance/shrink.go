package conformance

import (
	"context"
	"slices"
	"strconv"
)

// shrinkTrials bounds how often a failing history is tried again.
const shrinkTrials = 300

// trial runs events from the beginning, on keys of its own that begin with space.
type trial[E any] func(ctx context.Context, space string, events []E) error

// shortest runs the events, and if they break the rule returns the verdict on the
// shortest part of them that still does: it drops ever smaller pieces as long as the
// rest fails too.
func shortest[E any](ctx context.Context, p *probe, events []E, run trial[E]) error {
	again := func(events []E) error {
		p.trials++
		return run(ctx, strconv.Itoa(p.trials)+".", events)
	}
	err := again(events)
	worst := broken(err)
	if worst == nil {
		return err
	}
	tries := 0
	for size := len(events) / 2; size > 0; {
		dropped := false
		for from := 0; from < len(events); {
			if tries++; tries > shrinkTrials || ctx.Err() != nil {
				return worst
			}
			part := slices.Delete(slices.Clone(events), from, min(from+size, len(events)))
			if v := broken(again(part)); v != nil && len(part) > 0 {
				events, worst, dropped = part, v, true
			} else {
				from += size
			}
		}
		if !dropped || size > len(events) {
			size /= 2
		}
	}
	return worst
}
