package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirlimits/weir/store"
)

// Status is what came of a check. Higher is worse; what is known only rises.
type Status uint8

// The statuses, in their order.
const (
	Skipped      Status = iota // left out by the config
	Unsupported                // the store or the plan does not claim to have it
	Pass                       // the rule holds, as far as it was tried
	Inconclusive               // the rule could not be tried; that is no pass
	OverClaimed                // it works, but less far than the traits or the shape say
	Fail                       // the rule is broken
	Error                      // the store stopped to answer, so nothing is known
)

var statusNames = [...]string{"skipped", "unsupported", "pass", "inconclusive", "over-claimed", "fail", "error"}

// String returns the status in lower case, such as "over-claimed".
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// MarshalText gives what String does.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("conformance: status %q: want one of %s", text, strings.Join(statusNames[:], ", "))
}

// Result is what came of one check.
type Result struct {
	Check   string        `json:"check"`             // its name: "counter/atomic"
	Rule    string        `json:"rule"`              // what must hold, in one line
	Status  Status        `json:"status"`            //
	Detail  string        `json:"detail,omitempty"`  // why it is no pass
	History []string      `json:"history,omitempty"` // the shortest failing history found, oldest first
	Seed    uint64        `json:"seed"`              // asks the same again
	Elapsed time.Duration `json:"elapsed_ns"`
}

// String tells the result in full, in several lines where there is a history.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Check, r.Status)
	if r.Status <= Pass && r.Detail == "" {
		return b.String()
	}
	fmt.Fprintf(&b, ": %s\n\trule: %s\n\tseed: %d", r.Detail, r.Rule, r.Seed)
	for _, line := range r.History {
		b.WriteString("\n\t  " + line)
	}
	return b.String()
}

// Report is what came of all checks.
type Report struct {
	Version int           `json:"version"` // of this form
	Store   string        `json:"store"`
	Traits  store.Traits  `json:"traits"`
	Weir    string        `json:"weir"` // the module's version
	Go      string        `json:"go"`
	Seed    uint64        `json:"seed"`
	Effort  int           `json:"effort"`
	Started time.Time     `json:"started"`
	Elapsed time.Duration `json:"elapsed_ns"`
	Results []Result      `json:"results"`
}

// ReportVersion is the version of a report's form.
const ReportVersion = 1

func (r *Report) add(one Result) { r.Results = append(r.Results, one) }

// Status is the worst of all results.
func (r *Report) Status() Status {
	worst := Skipped
	for _, one := range r.Results {
		worst = max(worst, one.Status)
	}
	return worst
}

// Count returns how many results have the status.
func (r *Report) Count(s Status) int {
	n := 0
	for _, one := range r.Results {
		if one.Status == s {
			n++
		}
	}
	return n
}

// Err joins the results that say that the store broke its word or stopped to answer,
// and one error if no check passed. Nil means that none did.
func (r *Report) Err() error {
	var errs []error
	for _, one := range r.Results {
		if one.Status >= OverClaimed {
			errs = append(errs, fmt.Errorf("conformance: %s", one))
		}
	}
	if errs == nil && r.Count(Pass) == 0 {
		return errors.New("conformance: no check passed: want a store with a capability, and not all of it skipped")
	}
	return errors.Join(errs...)
}
