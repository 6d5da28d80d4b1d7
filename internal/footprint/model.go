package footprint

// Model is what was measured of the stores and algorithms, under one limit on one machine, as package choose
// estimates from it.
type Model struct {
	Limit   string `json:"limit"`  // under which speed and precision were measured
	Commit  string `json:"commit"` // that was measured
	Machine string `json:"machine"`
	// Stores are the measured stores, by the name in their traits.
	Stores map[string]Store `json:"stores"`
	// Precision is what was seen of an algorithm, options included, in the worst of the generated scenarios.
	Precision map[string]Precision `json:"precision"`
}

// Store is what was measured of one store.
type Store struct {
	Overhead float64 `json:"overhead"` // bytes of a key beside what its allocator takes for key and value
	Error    float64 `json:"error"`    // by how much the estimate was off at the worst measured point, as a part of it
	// Curves are the bytes of data structures, which no allocator tells of: those of one key beside Overhead and the
	// key's own text.
	Curves map[string]Curve `json:"curves,omitempty"`
	Speed  map[string]Speed `json:"speed"` // by algorithm
}

// Speed is what a closed loop of 64 callers reached.
type Speed struct {
	PerSecond float64 `json:"per_second"`         // one decision for each round trip
	Spread    float64 `json:"spread"`             // of it: highest less lowest repetition, as a part
	Gathered  float64 `json:"gathered,omitempty"` // callers share round trips; zero where the store gathers none
}

// Precision are parts of all requests, each in its worst scenario.
type Precision struct {
	Over     float64 `json:"over"`     // admitted although the limiter's own history was full
	Denied   float64 `json:"denied"`   // denied although it was not
	Admitted float64 `json:"admitted"` // the least, as a part of what an exact log admits
}
