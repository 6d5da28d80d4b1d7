package hammer

import (
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
)

// ReportVersion is the version of the report's format.
const ReportVersion = 1

// Report is what a run of [Run] saw.
type Report struct {
	Version   int             `json:"version"`
	Limit     bench.LimitInfo `json:"limit"`
	Processes int             `json:"processes"`
	Workers   int             `json:"workers"`   // per process
	Requests  int64           `json:"requests"`  // per run, of all processes together
	SpreadUS  int64           `json:"spread_us"` // over which the workers began; 0: all at once
	Results   []Result        `json:"results"`
}

// Result is one algorithm on one store at one latency.
type Result struct {
	Algorithm   string   `json:"algorithm"` // options included
	Store       string   `json:"store"`
	Server      string   `json:"server,omitempty"`
	Unsupported string   `json:"unsupported,omitempty"` // why it cannot run there; then nothing else is set
	Missing     []string `json:"missing,omitempty"`     // the capabilities that the store lacks, if that is why
	Plan        string   `json:"plan,omitempty"`
	Exactness   string   `json:"exactness,omitempty"`
	LatencyUS   int64    `json:"latency_us"` // added to each direction
	// Storeless tells that it keeps nothing in the store, which then has no part in it.
	Storeless bool `json:"storeless,omitempty"`
	// PerProcess tells that each process counts alone, so that each lets the limit through.
	PerProcess  bool    `json:"per_process,omitempty"`
	ExpectedMax int64   `json:"expected_max"` // the most that one run may let through
	Runs        []Count `json:"runs,omitempty"`
	Verdict     Verdict `json:"verdict,omitempty"`
	Error       string  `json:"error,omitempty"` // what ended the runs early, or why a run proves nothing
}

// Count is what one run saw.
type Count struct {
	Allowed   int64  `json:"allowed"`
	Denied    int64  `json:"denied"`
	Errors    int64  `json:"errors,omitempty"` // each worker stops at its first
	Error     string `json:"error,omitempty"`  // one of them
	ElapsedUS int64  `json:"elapsed_us"`
	Restarts  int    `json:"restarts,omitempty"` // how often it started again because time freed a place meanwhile
	// PlaceFreed tells that time did so in the last attempt too: the count proves nothing.
	PlaceFreed bool `json:"place_freed,omitempty"`
}

// Verdict is what the runs of a [Result] amount to.
type Verdict string

// The verdicts.
const (
	Exact     Verdict = "exact"     // every run let exactly the expected number through
	Over      Verdict = "over"      // some run let more through
	Fewer     Verdict = "fewer"     // none let more through, and some fewer
	Undecided Verdict = "undecided" // errors, or no run that time did not interfere with
)

// judge sets the verdict. More than expected is proof whatever else happened; errors
// leave open what would have come, and time that freed a place spoils the count.
func (r *Result) judge() {
	fewer, over := false, false
	for _, c := range r.Runs {
		switch {
		case c.PlaceFreed:
			r.doubt(fmt.Sprintf("time freed a place in each of %d attempts: want a longer window or fewer requests", c.Restarts+1))
		case c.Allowed > r.ExpectedMax:
			over = true
		case c.Errors > 0:
			r.doubt(fmt.Sprintf("%d workers stopped at an error: %s", c.Errors, c.Error))
		case c.Allowed < r.ExpectedMax:
			fewer = true
		}
	}
	switch {
	case over:
		r.Verdict = Over
	case r.Error != "":
		r.Verdict = Undecided
	case fewer:
		r.Verdict = Fewer
	default:
		r.Verdict = Exact
	}
}

// doubt keeps the first reason why the runs prove nothing.
func (r *Result) doubt(why string) {
	if r.Error == "" {
		r.Error = why
	}
}

// Allowed returns the least and the most that a run let through.
func (r *Result) Allowed() (least, most int64) {
	return r.span(func(c Count) int64 { return c.Allowed })
}

// Denied returns the least and the most that a run denied.
func (r *Result) Denied() (least, most int64) {
	return r.span(func(c Count) int64 { return c.Denied })
}

// Excess returns the least and the most that a run let through above what was expected.
func (r *Result) Excess() (least, most int64) {
	return r.span(func(c Count) int64 { return max(c.Allowed-r.ExpectedMax, 0) })
}

func (r *Result) span(of func(Count) int64) (least, most int64) {
	for i, c := range r.Runs {
		v := of(c)
		if i == 0 {
			least = v
		}
		least, most = min(least, v), max(most, v)
	}
	return least, most
}

// Restarts returns how many runs were started again in all.
func (r *Result) Restarts() int {
	n := 0
	for _, c := range r.Runs {
		n += c.Restarts
	}
	return n
}

// Racy tells that the plan is not atomic, and so gave no word.
func (r *Result) Racy() bool     { return r.Exactness == weir.Plan{Racy: true}.Exactness() }
func (r *Result) spurious() bool { return r.Exactness == weir.Plan{Spurious: true}.Exactness() }

// OK reports whether the algorithm kept its word. A racy one gave none; a plan that
// can deny for a moment what another caller's rollback would have freed may let fewer
// through.
func (r *Result) OK() bool {
	switch r.Verdict {
	case Over:
		return r.Racy()
	case Fewer:
		return r.Racy() || r.spurious()
	case Undecided:
		return false
	default:
		return true
	}
}

// String says the verdict in a few words.
func (r *Result) String() string {
	least, most := r.Allowed()
	var text string
	switch r.Verdict {
	case Over:
		text = fmt.Sprintf("%d over", most-r.ExpectedMax)
	case Fewer:
		text = fmt.Sprintf("%d fewer", r.ExpectedMax-least)
	case Undecided:
		return "undecided: " + r.Error
	case Exact:
		if r.Racy() {
			return "racy, but not caught"
		}
		return "exact"
	default:
		return r.Unsupported
	}
	switch {
	case !r.OK():
		return "FAILED: " + text
	case r.Racy():
		return "racy: " + text
	default:
		return text + " (spurious denials)"
	}
}
