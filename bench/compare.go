package bench

import (
	"context"
	"fmt"
)

// Compare measures every algorithm on every backend: memory, then precision, cost, growth
// where asked for, then throughput, one pair at a time. What a store cannot run is listed as unsupported.
//
// An error is about the configuration alone; then nothing was measured. Where a pair fails, because
// its server died or, being shared, has grown too much, the error stands in its result, the others go
// on, and Results.Incomplete says so. Where ctx ends, the results hold what was measured until then,
// and Results.Incomplete says why.
func Compare(ctx context.Context, config Config, progress Progress) (*Results, error) {
	c, err := config.complete()
	if err != nil {
		return nil, err
	}
	res := &Results{
		Version: ResultsVersion, Environment: environment(ctx, c),
		Limit: NewLimitInfo(c.Limit), Clients: c.Clients,
		Floor: floorPoints(c.Limit, c.Events, c.Clients),
	}
	if t := c.Trace; t != nil {
		res.Trace = &TraceInfo{
			Name: t.Name, Format: t.Format, Events: len(t.Events), Keys: t.Keys,
			Bad: t.Bad, Backward: t.Backward, ResolutionUS: t.Resolution.Microseconds(),
		}
	}
	r := &run{config: c, progress: progress, results: res}
	for _, p := range pairs(c.Algorithms, c.Backends, c.Limit) {
		described, err := p.describe()
		if err != nil {
			described.Error = err.Error()
		}
		r.entries = append(r.entries, &entry{pair: p, Result: described})
	}
	r.measure(ctx)
	res = r.all()
	res.Incomplete = r.incomplete()
	return res, nil
}

// incomplete says in one line what is missing from the results, empty if nothing is.
func (r *run) incomplete() string {
	if r.stopped != "" {
		return r.stopped
	}
	failed, first := 0, ""
	for _, e := range r.entries {
		if e.Error == "" {
			continue
		}
		if failed++; failed == 1 {
			first = e.pair.String() + ": " + e.Error
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pairs failed, the first: %s", failed, len(r.entries), first)
}
