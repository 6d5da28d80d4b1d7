// Package worst finds what an algorithm does at worst, by machine: it follows every
// arrival pattern through the algorithm's step, for limits and windows that are small
// enough, and returns the most that any window saw admitted, the most places that were
// free at a denial, and the patterns that get there.
//
// A tick is one microsecond, the grain of every time in this module, so nothing
// happens between two ticks and no pattern of requests is left out; costs are 1 to 3.
// Time never steps back. The step is driven directly: no store, no clock.
package worst

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirlimits/weir"
)

// ErrOutOfReach means that an algorithm cannot be explored: it has no step, or more
// states than the search follows.
var ErrOutOfReach = errors.New("out of reach")

// Result is the worst that every arrival pattern together can do.
type Result struct {
	Algorithm string
	Limit     int64 // L
	Ticks     int64 // W, in microseconds

	// MaxInWindow is the most that any window (t-W, t] saw admitted.
	MaxInWindow int64
	// Deficit is the most places that were free in (t-W, t] when a request of cost 1
	// was denied at t.
	Deficit int64
	// DeficitFor is the least D such that, whenever a request of cost 1 is denied at t,
	// L were admitted in (t-W-D, t]: a denial outlasts by at most D the instant from
	// which its place was free. It is zero where no D below W-1us does. What is longer
	// than the algorithm declares counts as 1us longer: the search looks no further back.
	DeficitFor time.Duration
	// LongRun is the most that can be admitted in the long run, as a part of the
	// exact log's L per W.
	LongRun float64
	// Saturated is the least that a client who never stops asking for 1 gets in the
	// long run, as a part of L per W.
	Saturated float64

	// States is how many states were explored: of the limiter, the clock, and what the
	// last windows saw.
	States int

	// MaxSequence and DeficitSequence reach MaxInWindow and Deficit with the fewest
	// requests and ticks. The latter is nil where no place was ever free.
	MaxSequence, DeficitSequence []Step
}

// Step is one request of a sequence.
type Step struct {
	Time    int64 // ticks; aligned windows and sub-windows begin at 0
	Cost    int64
	Allowed bool
}

// Search explores every state that an algorithm can reach with the limit l per a
// window of so many ticks. It returns a [weir.FieldError] where the algorithm refuses
// that limit, an error that unwraps to [ErrOutOfReach] where it cannot be explored, and
// another where the step breaks its contract: a state that it does not read, a TTL
// shorter than the state matters, a reset that is none.
func Search(a weir.Algorithm, l, ticks int64) (Result, error) {
	limit := weir.Limit{Count: l, Window: time.Duration(ticks) * time.Microsecond}
	if l < 1 || l > weir.MaxCount {
		return Result{}, &weir.FieldError{Field: "limit count", Value: fmt.Sprint(l), Want: "1 to 1000000000"}
	}
	if ticks < 1 || ticks > mostTicks {
		return Result{}, &weir.FieldError{Field: "window", Value: fmt.Sprint(ticks) + " ticks", Want: fmt.Sprintf("1 to %d", mostTicks)}
	}
	m, err := newMachine(a, limit)
	if err != nil {
		return Result{}, err
	}
	e := newExplorer(m)
	if err := e.explore(); err != nil {
		return Result{}, fmt.Errorf("worst: %s at %d per %d ticks: %w", a, l, ticks, err)
	}
	return e.result(a), nil
}

// Check returns an error that names each figure in which a guarantee differs from what
// was found: too high is as wrong as too low.
func (r Result) Check(g weir.Guarantee) error {
	var wrong []string
	differ := func(what string, declared, found any) {
		if declared != found {
			wrong = append(wrong, fmt.Sprintf("%s: declared %v, found %v", what, declared, found))
		}
	}
	differ("max in window", g.MaxInWindow, r.MaxInWindow)
	differ("deficit", g.Deficit, r.Deficit)
	differ("deficit for", g.DeficitFor, r.DeficitFor)
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("worst: %s at %d per %d ticks: %s", r.Algorithm, r.Limit, r.Ticks, strings.Join(wrong, "; "))
}

// MaxLine tells in one line how the most in a window comes about:
// "t=6: 3 admitted, t=7: 3 admitted: 6 in (0,7]".
func (r Result) MaxLine() string {
	if len(r.MaxSequence) == 0 {
		return ""
	}
	t := r.MaxSequence[len(r.MaxSequence)-1].Time
	return fmt.Sprintf("%s: %d in (%d,%d]", line(r.MaxSequence), r.MaxInWindow, t-r.Ticks, t)
}

// DeficitLine tells in one line how the deficit comes about:
// "t=0: 3 admitted, t=7: 1 denied: 3 free in (0,7]". It is empty where there is none.
func (r Result) DeficitLine() string {
	if len(r.DeficitSequence) == 0 {
		return ""
	}
	t := r.DeficitSequence[len(r.DeficitSequence)-1].Time
	return fmt.Sprintf("%s: %d free in (%d,%d]", line(r.DeficitSequence), r.Deficit, t-r.Ticks, t)
}

// line joins what happened alike at one tick.
func line(steps []Step) string {
	var parts []string
	for i := 0; i < len(steps); {
		first, sum := steps[i], int64(0)
		for ; i < len(steps) && steps[i].Time == first.Time && steps[i].Allowed == first.Allowed; i++ {
			sum += steps[i].Cost
		}
		verdict := "admitted"
		if !first.Allowed {
			verdict = "denied"
		}
		parts = append(parts, fmt.Sprintf("t=%d: %d %s", first.Time, sum, verdict))
	}
	return strings.Join(parts, ", ")
}
