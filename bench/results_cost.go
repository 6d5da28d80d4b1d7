package bench

// Cost is what one decision costs on average: one caller, all requests admitted, keys less than half
// full, the store's own clock.
type Cost struct {
	Trips     float64 `json:"trips"`               // round trips
	Commands  float64 `json:"commands"`            // as the server counts them, those within scripts included
	ServerUS  float64 `json:"server_us,omitempty"` // of the server's time; zero where it does not tell
	WireOut   float64 `json:"wire_out_bytes"`      // to the server
	WireIn    float64 `json:"wire_in_bytes"`       // from the server
	Decisions int64   `json:"decisions"`
	NA        string  `json:"na,omitempty"`
}

// Growth is how the cost grows with what is asked of a limiter.
type Growth struct {
	Events  []EventsPoint  `json:"events,omitempty"`
	Keys    []KeysPoint    `json:"keys,omitempty"` // in this process alone
	Callers []CallersPoint `json:"callers,omitempty"`
}

// EventsPoint is a key that holds so many events, of which one leaves as one comes.
type EventsPoint struct {
	Events      int64   `json:"events"`
	BytesPerKey float64 `json:"bytes_per_key,omitempty"` // the store's own figure
	DecisionUS  float64 `json:"decision_us"`             // median of one caller
	ServerUS    float64 `json:"server_us,omitempty"`     // by the server, median of the rounds' means
	NA          string  `json:"na,omitempty"`
}

// KeysPoint is a store in this process that holds so many keys of one event.
type KeysPoint struct {
	Keys int64 `json:"keys"`
	// BytesPerKey is the growth of the live heap, the store's unfilled room included; below 1,000 keys, which
	// do not show there, the store's own figure.
	BytesPerKey float64 `json:"bytes_per_key"`
	DecisionNS  float64 `json:"decision_ns"` // median of rounds, of one caller
	NA          string  `json:"na,omitempty"`
}

// CallersPoint is a closed loop of so many callers, as in [Throughput].
type CallersPoint struct {
	Callers   int     `json:"callers"`
	PerSecond float64 `json:"per_second"`
	P50US     float64 `json:"p50_us"`
	P99US     float64 `json:"p99_us"`
	Spread    float64 `json:"spread"`
	NA        string  `json:"na,omitempty"`

	Gathered *CallersPoint `json:"gathered,omitempty"` // as in [Throughput]
}

// Stall is how long another client waits while the expired events of one key are trimmed.
type Stall struct {
	Events    int64   `json:"events"`
	LongestUS float64 `json:"longest_us"` // the least of a few times
	IdleUS    float64 `json:"idle_us"`    // the same with nothing to trim
	NA        string  `json:"na,omitempty"`
}

// BoundaryPoint is a moment of a client that asks for the limit just before a boundary and again after
// it, in simulated time.
type BoundaryPoint struct {
	AtUS     int64 `json:"at_us"`     // since the start of the scenario
	Asked    int64 `json:"asked"`     // since the point before
	Admitted int64 `json:"admitted"`  // of those
	InWindow int64 `json:"in_window"` // admitted in the window that ends here
}

// OpenLoop is a load that comes at a fixed rate, whether or not earlier requests are answered. Latency
// counts from when a request was due, so what this process is late itself is in it.
type OpenLoop struct {
	Rate      float64 `json:"rate"`     // per second, intended
	Achieved  float64 `json:"achieved"` // per second, answered
	P50US     float64 `json:"p50_us"`
	P99US     float64 `json:"p99_us"`
	P999US    float64 `json:"p999_us"`
	MaxUS     float64 `json:"max_us"`
	Decisions int64   `json:"decisions"` // answered
	NA        string  `json:"na,omitempty"`
}
