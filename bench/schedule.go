package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/weirlimits/weir"
)

// schedule is what one key is asked for within one window that starts with simulated time.
type schedule struct {
	requests int64
	events   int64 // in all; shared out evenly among the requests
	window   int64 // microseconds
}

// spreadSchedule asks for the events one by one, evenly spread over the window.
func spreadSchedule(events int64, window time.Duration) schedule {
	return schedule{requests: events, events: events, window: window.Microseconds()}
}

// mostAtOnce is the largest cost that the limiter takes and may admit.
func mostAtOnce(l *weir.Weir) int64 {
	most := l.Capacity()
	if n := l.Plan().MaxCost; n > 0 {
		most = min(most, n)
	}
	return most
}

// bulkSchedule asks for the events in as few requests as the limiter takes.
func bulkSchedule(events int64, l *weir.Weir) schedule {
	most := mostAtOnce(l)
	return schedule{
		requests: (events + most - 1) / most, events: events, window: l.Limit().Window.Microseconds(),
	}
}

// at returns when the i-th request comes. The gap is rounded up where that fits, so that it is
// never shorter than a limiter without burst asks for.
func (s schedule) at(i int64) int64 {
	if gap := (s.window + s.requests - 1) / s.requests; gap*(s.requests-1) < s.window {
		return gap * i
	}
	return share(s.window, i, s.requests)
}

// hasCompanions reports whether a key's state lies in more than one key of the store.
func hasCompanions(l *weir.Weir) bool { return len(l.Keys("")) > 1 }

// memoryStart is when a schedule starts: a window after simulated time, so that there is one before.
func memoryStart(window time.Duration) int64 { return simulatedStart(window) + window.Microseconds() }

// play asks for all events. If the key has companions, one event more comes exactly a window before
// them, so that they are all there.
func (s schedule) play(ctx context.Context, w *worker, key string) error {
	start := memoryStart(w.limiter.Limit().Window)
	if hasCompanions(w.limiter) {
		if _, err := w.take(ctx, start-s.window, key, 1); err != nil {
			return err
		}
	}
	var admitted int64
	for i := range s.requests {
		cost := share(s.events, i+1, s.requests) - share(s.events, i, s.requests)
		d, err := w.take(ctx, start+s.at(i), key, cost)
		if err != nil {
			return err
		}
		if d.Allowed {
			admitted += cost
		}
	}
	if admitted != s.events {
		return &notAdmittedError{admitted: admitted, of: s.events}
	}
	return nil
}

// notAdmittedError says that a measurement is void, since requests were denied in it.
type notAdmittedError struct{ admitted, of int64 }

func (e *notAdmittedError) Error() string {
	return fmt.Sprintf("%d of %d requests were admitted", e.admitted, e.of)
}
