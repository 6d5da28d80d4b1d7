package bench

import (
	"context"
	"fmt"
)

// run is a comparison under way.
type run struct {
	config   Config
	progress Progress
	results  *Results // all but what each pair measured
	entries  []*entry
	pieces   []piece
	done     int
	stopped  string // why no more is measured
}

type entry struct {
	pair
	Result
	loop *loop
}

// piece is one piece of work for a pair.
type piece struct {
	entry *entry
	what  string
	do    func(ctx context.Context) error
}

func (p piece) String() string { return p.entry.pair.String() + ": " + p.what }

// add adds a piece to the work, unless the pair cannot run.
func (r *run) add(e *entry, what string, do func(ctx context.Context) error) {
	if e.alive() {
		r.pieces = append(r.pieces, piece{entry: e, what: what, do: do})
	}
}

// alive reports whether there is still something to measure.
func (e *entry) alive() bool { return e.Unsupported == nil && e.Error == "" }

func (e *entry) standIn() bool { return e.backend.StandIn != "" }

func (r *run) measure(ctx context.Context) {
	r.addMemory() // first: later there are many connections, whose buffers come and go
	r.addPrecision()
	r.addCost()
	r.addGrowth()
	r.addThroughput()
	for i, p := range r.pieces {
		if r.stopped != "" {
			return
		}
		if !p.entry.alive() {
			continue
		}
		r.piece(ctx, p)
		if save := r.config.Checkpoint; save != nil && i+1 < len(r.pieces) {
			save(func() *Results { return r.soFar(i + 1) })
		}
	}
}

// piece does one piece of work.
func (r *run) piece(ctx context.Context, p piece) {
	if r.progress != nil {
		r.progress(p.String(), r.done, len(r.pieces))
	}
	r.done++
	err := ctx.Err()
	if err == nil {
		err = p.entry.backend.GuardMemory(ctx)
	}
	if err == nil {
		err = p.do(ctx)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.stopped = fmt.Sprintf("%v during %s", context.Cause(ctx), p)
	default:
		p.entry.Error = fmt.Sprintf("%s: %v", p.what, err)
	}
}

// soFar returns what was measured by the first n pieces, as those who find it will have to read it: the
// run did not come to its end.
func (r *run) soFar(n int) *Results {
	res := r.all()
	res.Incomplete = fmt.Sprintf("it was ended, or still goes on: of %d measurements %d are here, and those from %s on are missing",
		len(r.pieces), n, r.pieces[n])
	return res
}

// all returns what was measured.
func (r *run) all() *Results {
	res := *r.results
	for _, e := range r.entries {
		one := e.Result
		one.Throughput = e.throughput(r.config.Callers)
		if callers := e.callersPoints(r.config.Growth); callers != nil {
			growth := Growth{}
			if one.Growth != nil {
				growth = *one.Growth
			}
			growth.Callers = callers
			one.Growth = &growth
		}
		res.Results = append(res.Results, one)
	}
	return &res
}

func (r *run) addPrecision() {
	for _, s := range r.config.Scenarios {
		for _, e := range r.entries {
			r.add(e, s.Name, func(ctx context.Context) error {
				p, err := measurePrecision(ctx, e.pair, s.Events)
				if err != nil {
					return err
				}
				if e.Precision == nil {
					e.Precision = map[string]Precision{}
				}
				e.Precision[s.Name] = p
				return nil
			})
		}
	}
}

func (r *run) addMemory() {
	for _, n := range r.config.Events {
		for _, e := range r.entries {
			r.add(e, fmt.Sprintf("memory after %d events", n), func(ctx context.Context) error {
				m, err := measureMemory(ctx, e.pair, n)
				if err != nil {
					return err
				}
				m.Total = m.BytesPerKey * float64(r.config.Clients)
				e.Memory = append(e.Memory, m)
				return nil
			})
		}
	}
}

// addCost measures what is the same for each decision, and what comes through at a boundary.
func (r *run) addCost() {
	for _, e := range r.entries {
		r.add(e, "boundary", func(ctx context.Context) (err error) {
			e.Boundary, err = measureBoundary(ctx, e.pair)
			return err
		})
		r.add(e, "cost of a decision", func(ctx context.Context) error {
			c, err := measureCost(ctx, e.pair)
			if err == nil {
				e.Cost = &c
			}
			return err
		})
	}
}
