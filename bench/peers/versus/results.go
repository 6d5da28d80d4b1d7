// Package versus measures other libraries' limiters and ours side by side: in one run, on the same
// servers, with the same keys and the same client, one repetition of each after the other. What is
// reported is the run's [Results], losses included.
package versus

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/weirlimits/weir/bench"
)

// ResultsVersion is the version of the results' form.
const ResultsVersion = 1

// Results is what a run measured. Times are in the unit that their names end in.
type Results struct {
	Version     int               `json:"version"`
	Environment bench.Environment `json:"environment"`
	Settings    Settings          `json:"settings"`
	Rows        []*Row            `json:"rows"`
	Ratios      []Ratio           `json:"ratios"`
	// Incomplete says why a run ended early; what it had measured is kept.
	Incomplete string `json:"incomplete,omitempty"`
}

// Row is one limiter on one store.
type Row struct {
	Ours      bool     `json:"ours"`
	Name      string   `json:"name"`
	Module    string   `json:"module"`
	Version   string   `json:"version"`
	Algorithm string   `json:"algorithm"`
	Store     string   `json:"store"`
	Cannot    []string `json:"cannot,omitempty"`
	// Needs is what the store lacks; then nothing was measured.
	Needs     string     `json:"needs,omitempty"`
	Precision *Precision `json:"precision,omitempty"`
	Memory    []Memory   `json:"memory,omitempty"`
	Speed     []*Speed   `json:"speed,omitempty"`
	Error     string     `json:"error,omitempty"` // what ended the measuring of this row
}

// String is the name and the store.
func (r *Row) String() string { return r.Name + " on " + r.Store }

// Precision is how exactly the limit is kept.
type Precision struct {
	Limit bench.LimitInfo `json:"limit"`
	// Simulated time where the limiter takes a clock. In real time nothing is held against the limiter
	// that the length of a call could explain: all counts are what is certain.
	Simulated     bool  `json:"simulated"`
	LongestCallUS int64 `json:"longest_call_us"`
	// MaxInWindow is the most admitted in any window by bursts about the windows' boundaries.
	MaxInWindow int64 `json:"max_in_window"`
	// Of requests that come steadily, at nine tenths of the limit's rate and at twice that rate, so many
	// were denied although a place was free.
	Steady Denials `json:"steady"`
	Pushed Denials `json:"pushed"`
	NA     string  `json:"na,omitempty"` // why there is no figure
}

// Denials are the denials of one key.
type Denials struct {
	Requests    int64 `json:"requests"`
	Denied      int64 `json:"denied"`
	FalseDenied int64 `json:"false_denied"`
}

// Memory is what a key costs.
type Memory struct {
	Events      int64   `json:"events"` // admitted requests of each key
	Keys        int     `json:"keys"`
	BytesPerKey float64 `json:"bytes_per_key"` // in this process without the text of the key, 16 bytes
	NA          string  `json:"na,omitempty"`
}

// Speed is a closed loop of callers whose requests were all admitted.
type Speed struct {
	Limit       bench.LimitInfo `json:"limit"`
	Keys        int             `json:"keys"`
	Callers     int             `json:"callers"`
	Repetitions int             `json:"repetitions"`
	PerSecond   float64         `json:"per_second"` // median of the repetitions
	Spread      float64         `json:"spread"`     // (most - least) / median
	NSPerOp     float64         `json:"ns_per_op"`  // of all callers together
	Decisions   int64           `json:"decisions"`
	// AllocsPerOp counts only in this process, where garbage is not collected meanwhile.
	AllocsPerOp float64 `json:"allocs_per_op"`
	// Commands are the server's own counts, by decision; the greatest shows that each was decided there.
	Commands map[string]float64 `json:"commands,omitempty"`
	NA       string             `json:"na,omitempty"`

	failed  string // what the limiter answered in place of a decision
	rates   []float64
	denied  int64
	mallocs uint64
	counted map[string]int64
}

// Ratio sets one of our rows against a peer's in the same measure.
type Ratio struct {
	Ours    string  `json:"ours"`
	Peer    string  `json:"peer"`
	Store   string  `json:"store"`
	Measure string  `json:"measure"`
	Ratio   float64 `json:"ratio"` // ours / peer; of speeds the median over the repetitions
	Low     float64 `json:"low"`   // and their least
	High    float64 `json:"high"`  // and most
	Better  bool    `json:"better"`
}

// WriteJSON writes the results, indented.
func (r *Results) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("versus: writing results: %w", err)
	}
	return nil
}
