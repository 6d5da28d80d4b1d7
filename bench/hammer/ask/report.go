package ask

import (
	"time"

	"github.com/weirlimits/weir/bench"
)

// ReportVersion is the version of the report's format.
const ReportVersion = 1

// Report is what [Run] saw.
type Report struct {
	Version   int             `json:"version"`
	URL       string          `json:"url"` // without credentials and query
	Limit     bench.LimitInfo `json:"limit"`
	Clients   string          `json:"clients"` // how clients were told apart: "address", "header" or "one"
	Requests  int64           `json:"requests"`
	Allowed   int64           `json:"allowed"`
	Denied    int64           `json:"denied"`
	Errors    int64           `json:"errors"`          // no answer, or a status that tells nothing
	Error     string          `json:"error,omitempty"` // one of them
	ElapsedUS int64           `json:"elapsed_us"`

	// AtOnce is how many of a burst from idle were admitted, the most of all clients.
	AtOnce int64 `json:"at_once"`
	// MaxInWindow is how many the worst window is sure to have seen admitted of one client.
	MaxInWindow int64 `json:"max_in_window"`
	// Unlimited tells that a burst far above the limit was admitted whole.
	Unlimited bool `json:"unlimited,omitempty"`
	// HeldUS is how long admitted requests of a burst were held back, one after another; zero if they were not.
	HeldUS int64 `json:"held_us,omitempty"`

	// TakesUS is the median time of an answer.
	TakesUS int64 `json:"takes_us"`
	// TooSlow tells that answers take so long that algorithms cannot be told apart.
	TooSlow bool `json:"too_slow,omitempty"`

	Steady     Steady      `json:"steady"`
	RetryAfter RetryAfter  `json:"retry_after"`
	Remaining  Remaining   `json:"remaining"`
	Forged     []Forged    `json:"forged,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Steady is how a client fared that asked at the limit's own rate after a full burst.
type Steady struct {
	Asked   int64 `json:"asked"`
	Allowed int64 `json:"allowed"`
}

// Truth is what a promise in an answer proved to be.
type Truth string

// The truths.
const (
	Absent  Truth = "absent"      // no answer made the promise
	True    Truth = "true"        // it held whenever it was put to the test
	False   Truth = "false"       // it did not hold
	Unknown Truth = "cannot tell" // it could not be tested
)

// RetryAfter is what became of those who waited as long as they were told.
type RetryAfter struct {
	Truth   Truth  `json:"truth"`
	Denials int64  `json:"denials"` // how many there were
	Told    int64  `json:"told"`    // how many of them said when to try again
	Waited  int64  `json:"waited"`  // how often a client did so, and sent nothing before
	Held    int64  `json:"held"`    // how often it was then admitted
	Detail  string `json:"detail,omitempty"`
	// LateUS is by how much more than its grain of one second a wait was too long, at most.
	LateUS int64 `json:"late_us,omitempty"`
}

// Remaining is how the field of that name compares with what was then admitted at once.
type Remaining struct {
	Truth   Truth  `json:"truth"`
	Field   string `json:"field,omitempty"` // the header that said it
	Checked int64  `json:"checked"`         // answers held against what came after them
	Over    int64  `json:"over"`            // more was promised than was then admitted
	Under   int64  `json:"under"`           // less was promised, beyond what time gave back
}

// Forged is whether a header that the client wrote itself bought a limit of its own.
type Forged struct {
	Header  string `json:"header"`
	Fresh   Truth  `json:"fresh"` // true: it did
	Sent    int64  `json:"sent"`
	Allowed int64  `json:"allowed"`
}

func micros(us int64) string {
	d := time.Duration(us) * time.Microsecond
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.String()
	}
}
