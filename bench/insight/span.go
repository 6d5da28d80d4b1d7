// Package insight asks of recorded traffic what a limit would do to it: which clients it denies, for how long and
// when, what another limit would do, and which is the smallest that denies hardly anybody.
//
// [Ledger] keeps what decisions that were made elsewhere did to each client. [Traffic] decides itself: it runs the
// algorithm's own step in this process, client by client, which is what every store runs, without a store.
package insight

import (
	"time"

	"github.com/weirlimits/weir/bench/trace"
)

// mostSteps is how many steps a span has at most.
const mostSteps = 60

// widths are those a step of a span may have; beyond the last it is a multiple of it.
var widths = [...]time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
}

// hourUS and dayUS are in microseconds.
const (
	hourUS = int64(time.Hour / time.Microsecond)
	dayUS  = 24 * hourUS
)

// Span is when the requests of a trace came, in up to 60 steps of one round width, and by the hour of the day.
type Span struct {
	StartUS  int64     `json:"start_us"` // of the first step: microseconds since the Unix epoch, a multiple of StepUS
	StepUS   int64     `json:"step_us"`
	Requests []int64   `json:"requests"` // in each step
	Hours    [24]int64 `json:"hours"`    // by hour of the day, UTC
}

// NewSpan counts events, which are in order of time. Of none it returns an empty span.
func NewSpan(events []trace.Event) Span {
	if len(events) == 0 {
		return Span{}
	}
	first, last := events[0].Time, events[len(events)-1].Time
	s := Span{StepUS: stepFor(first, last)}
	s.StartUS = first - first%s.StepUS
	s.Requests = make([]int64, s.step(last)+1)
	for _, e := range events {
		s.Requests[s.step(e.Time)]++
		s.Hours[hourOf(e.Time)]++
	}
	return s
}

// stepFor is the narrowest width that needs no more than mostSteps from first to last.
func stepFor(first, last int64) int64 {
	fits := func(width int64) bool { return last/width-first/width < mostSteps }
	var width int64
	for _, w := range widths {
		if width = w.Microseconds(); fits(width) {
			return width
		}
	}
	for widest := width; !fits(width); {
		width += widest
	}
	return width
}

func (s *Span) step(at int64) int64 { return (at - s.StartUS) / s.StepUS }

// hourOf is the hour of the day, in UTC, of a time in microseconds since the epoch.
func hourOf(at int64) int64 { return at % dayUS / hourUS }
