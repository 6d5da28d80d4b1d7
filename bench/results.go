// Package bench compares rate limiters: scenarios and traces in simulated time judged
// by an exact oracle, memory as the server counts it, throughput and latency. It
// measures into [Results]; what people read is rendered from those.
package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirlimits/weir"
)

// ResultsVersion is the version of the results' format.
const ResultsVersion = 1

// Results is what a run measured, and all that a report is made from. It is written
// as JSON; times are in the unit that their names end in.
type Results struct {
	Version     int         `json:"version"`
	Environment Environment `json:"environment"`
	Limit       LimitInfo   `json:"limit"`
	Clients     int64       `json:"clients,omitempty"` // asked for by --clients: memory is totalled for so many
	Trace       *TraceInfo  `json:"trace,omitempty"`
	Results     []Result    `json:"results"`
	// Floor is what memory is held against; as often as memory was measured.
	Floor []FloorPoint `json:"floor,omitempty"`
	// Incomplete says why and where a run ended early; empty for a whole run.
	Incomplete string `json:"incomplete,omitempty"`
}

// Environment is what one must know to make the numbers again.
type Environment struct {
	Started time.Time    `json:"started"`
	Weir    string       `json:"weir"`             // version of this module
	Commit  string       `json:"commit,omitempty"` // with "-dirty" if there were changes
	Go      string       `json:"go"`
	OS      string       `json:"os"`
	Arch    string       `json:"arch"`
	CPU     string       `json:"cpu,omitempty"`
	CPUs    int          `json:"cpus"`
	Seed    uint64       `json:"seed"`
	Flags   []string     `json:"flags,omitempty"` // without credentials
	Servers []ServerInfo `json:"servers"`
}

// ServerInfo is one backend of the run.
type ServerInfo struct {
	Store   string `json:"store"`              // as results name it: "redis:private"
	Server  string `json:"server"`             // "Redis 7.0.15"
	Class   string `json:"class"`              // of the store: "ZSET + scripting"
	StandIn string `json:"stand_in,omitempty"` // "miniredis", where no real server was there
	Shared  bool   `json:"shared,omitempty"`   // a server that the run did not start
}

// LimitInfo is a limit in JSON.
type LimitInfo struct {
	Text     string `json:"text"` // "10/1s"
	Count    int64  `json:"count"`
	WindowUS int64  `json:"window_us"`
}

// NewLimitInfo describes a limit.
func NewLimitInfo(l weir.Limit) LimitInfo {
	return LimitInfo{Text: l.String(), Count: l.Count, WindowUS: l.Window.Microseconds()}
}

// TraceInfo describes the trace of a run.
type TraceInfo struct {
	Name         string `json:"name"`
	Format       string `json:"format"`
	Events       int    `json:"events"`
	Keys         int    `json:"keys"`
	Bad          int    `json:"bad"`
	Backward     int    `json:"backward"`
	ResolutionUS int64  `json:"resolution_us"`
}

// Result is one algorithm on one store.
type Result struct {
	Algorithm string `json:"algorithm"` // options included
	Store     string `json:"store"`
	// Unsupported holds what the store lacks: the capabilities that the only plan misses, or, of several plans, one
	// text that names the alternatives. Then nothing else is set.
	Unsupported []string             `json:"unsupported,omitempty"`
	Plan        string               `json:"plan,omitempty"`
	Exactness   string               `json:"exactness,omitempty"`
	Trips       int                  `json:"trips,omitempty"`        // declared round trips of an admitted request
	DeniedTrips int                  `json:"denied_trips,omitempty"` // and of a denied one
	Guarantee   *GuaranteeInfo       `json:"guarantee,omitempty"`    // declared
	Precision   map[string]Precision `json:"precision,omitempty"`    // by scenario
	Memory      []Memory             `json:"memory,omitempty"`
	Throughput  []Throughput         `json:"throughput,omitempty"`
	Cost        *Cost                `json:"cost,omitempty"`
	Growth      *Growth              `json:"growth,omitempty"`
	Stall       *Stall               `json:"stall,omitempty"`
	Boundary    []BoundaryPoint      `json:"boundary,omitempty"` // at most 200
	OpenLoop    []OpenLoop           `json:"open_loop,omitempty"`
	Error       string               `json:"error,omitempty"` // what ended the measuring of this pair
}

// GuaranteeInfo is a declared worst case in JSON.
type GuaranteeInfo struct {
	MaxInWindow int64 `json:"max_in_window"`
	Deficit     int64 `json:"deficit"`
	Evicts      bool  `json:"evicts,omitempty"` // the store may evict: the bound holds "unless evicted"
}

// Precision is a history of decisions, judged against the limiter's own history.
type Precision struct {
	Events           int64   `json:"events"`
	Keys             int     `json:"keys"`
	Allowed          int64   `json:"allowed"`
	Denied           int64   `json:"denied"`
	MaxInWindow      int64   `json:"max_in_window"`
	MaxOverLimit     float64 `json:"max_over_limit"` // MaxInWindow / L
	OverAdmitted     int64   `json:"over_admitted"`
	FalseDenied      int64   `json:"false_denied"`
	MaxDeficit       int64   `json:"max_deficit"`
	Wrong            int64   `json:"wrong"`          // decisions: OverAdmitted + FalseDenied
	WrongShare       float64 `json:"wrong_share"`    // Wrong / Events
	MeanError        float64 `json:"mean_error"`     // mean of |Remaining told - places truly free| / L, after each decision
	ExactAdmitted    int64   `json:"exact_admitted"` // what the exact log admits of the same events
	AdmittedRatio    float64 `json:"admitted_ratio"` // Allowed / ExactAdmitted
	RetryErrorMeanUS float64 `json:"retry_error_mean_us"`
	RetryErrorMaxUS  int64   `json:"retry_error_max_us"`
	ServerCalls      int64   `json:"server_calls,omitempty"` // the growth of the server's own count of commands
	DeclaredCalls    int64   `json:"declared_calls,omitempty"`
	NA               string  `json:"na,omitempty"` // why there is no figure: then nothing else is set
}

// Memory is what one key costs after so many admitted events in one window.
type Memory struct {
	Events      int64   `json:"events"`
	BytesPerKey float64 `json:"bytes_per_key"`         // growth of the server's count over many keys
	KeyBytes    int64   `json:"key_bytes,omitempty"`   // the single key's own figure, by the server
	Keys        int     `json:"keys"`                  // over how many it was measured
	Total       float64 `json:"total_bytes,omitempty"` // for Results.Clients
	NA          string  `json:"na,omitempty"`          // why there is no figure: "stand-in"
	Shared      bool    `json:"shared,omitempty"`      // others wrote meanwhile: from single keys
}

// Throughput is a closed loop of callers, all of whose requests were admitted.
type Throughput struct {
	Callers   int     `json:"callers"`
	PerSecond float64 `json:"per_second"` // median of the repetitions
	Spread    float64 `json:"spread"`     // (highest - lowest) / median
	P50US     float64 `json:"p50_us"`
	P99US     float64 `json:"p99_us"`
	P999US    float64 `json:"p999_us"`
	Decisions int64   `json:"decisions"`
	Keys      int     `json:"keys"` // distinct keys touched
	NA        string  `json:"na,omitempty"`

	// Gathered is the same where the store lets concurrent callers share round trips; what is beside it had
	// one round trip for each decision. Nil where the store gathers nobody.
	Gathered *Throughput `json:"gathered,omitempty"`
}

// Write writes the results as JSON.
func (r *Results) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// ReadResults reads what [Results.Write] wrote. name stands in its errors.
func ReadResults(r io.Reader, name string) (*Results, error) {
	const want = "want JSON that weir compare -o wrote"
	var res Results
	d := json.NewDecoder(r)
	if err := d.Decode(&res); err != nil {
		return nil, fmt.Errorf("bench: results %s: %w: %s", name, err, want)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("bench: results %s: more than one value: %s", name, want)
	}
	switch res.Version {
	case ResultsVersion:
	case 0:
		return nil, fmt.Errorf("bench: results %s: no version: %s", name, want)
	default:
		return nil, fmt.Errorf("bench: results %s: version %d: want version %d", name, res.Version, ResultsVersion)
	}
	return &res, nil
}
