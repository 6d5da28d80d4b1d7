package conformance

import (
	"context"
	"time"

	"github.com/weirlimits/weir/store"
)

var clockChecks = []check{{
	name: "clock/forward", rule: "Now is never before a time that was told before, whoever asks, and goes on",
	needs: store.CapClock, run: clockForward,
}}

func clockForward(ctx context.Context, p *probe) error {
	st := p.st.(store.Clock)
	first, err := st.Now(ctx)
	if err != nil {
		return err
	}
	for round := range 4 {
		told := make([]time.Time, callers)
		if err := together(func(i int) (err error) {
			told[i], err = st.Now(ctx)
			if err == nil && told[i].Before(first) {
				err = failf("Now returns %v, after %v was told", told[i], first)
			}
			return err
		}); err != nil {
			return err
		}
		for _, t := range told {
			if t.After(first) {
				first = t
			}
		}
		if round == 3 {
			break
		}
		if err := p.time.Sleep(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
	if first.Year() < 2000 || first.Year() > 2200 {
		return failf("Now returns %v: want a time from 2000 to 2200", first)
	}
	return nil
}
