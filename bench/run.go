package bench

import (
	"context"
	"fmt"
	"slices"
)

// run is a comparison under way.
type run struct {
	config   Config
	progress Progress
	entries  []*entry
	done     int
	total    int
	stopped  string // why no more is measured
}

type entry struct {
	pair
	Result
	loop *loop
}

// alive reports whether there is still something to measure.
func (e *entry) alive() bool { return e.Unsupported == nil && e.Error == "" }

func (r *run) measure(ctx context.Context) {
	c := r.config
	loops := 0
	if len(c.Callers) > 0 {
		loops = 1 + len(c.Callers)*c.Repetitions // the warm-up, then the repetitions
	}
	for _, e := range r.entries {
		if !e.alive() {
			continue
		}
		r.total += len(c.Scenarios) + len(c.Events)
		if !e.standIn() {
			r.total += loops
		}
	}
	r.memory(ctx) // first: later there are many connections, whose buffers come and go
	r.precision(ctx)
	r.throughput(ctx)
}

func (e *entry) standIn() bool { return e.backend.StandIn != "" }

// piece does one piece of work for a pair, unless the run or the pair has ended.
func (r *run) piece(ctx context.Context, e *entry, what string, do func() error) {
	if r.stopped != "" || !e.alive() {
		return
	}
	if r.progress != nil {
		r.progress(e.pair.String()+": "+what, r.done, r.total)
	}
	r.done++
	err := ctx.Err()
	if err == nil {
		err = e.backend.GuardMemory(ctx)
	}
	if err == nil {
		err = do()
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.stopped = fmt.Sprintf("%v during %s", context.Cause(ctx), e.pair.String()+": "+what)
	default:
		e.Error = fmt.Sprintf("%s: %v", what, err)
	}
}

func (r *run) precision(ctx context.Context) {
	for _, s := range r.config.Scenarios {
		for _, e := range r.entries {
			r.piece(ctx, e, s.Name, func() error {
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

func (r *run) memory(ctx context.Context) {
	for _, n := range r.config.Events {
		for _, e := range r.entries {
			r.piece(ctx, e, fmt.Sprintf("memory after %d events", n), func() error {
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

// throughput interleaves the repetitions, so that what changes on the machine meanwhile meets all
// pairs alike.
func (r *run) throughput(ctx context.Context) {
	c := r.config
	if len(c.Callers) == 0 {
		return
	}
	keys := make([]string, c.Keys)
	for i := range keys {
		keys[i] = memoryKey(i)
	}
	for _, e := range r.entries {
		if e.standIn() {
			continue
		}
		r.piece(ctx, e, "warming up", func() (err error) {
			e.loop, err = newLoop(ctx, e.pair, keys)
			return err
		})
	}
	callers := newCallers(slices.Max(c.Callers), c.Keys)
	for range c.Repetitions {
		for _, n := range c.Callers {
			for _, e := range r.entries {
				if e.loop == nil {
					continue
				}
				r.piece(ctx, e, fmt.Sprintf("throughput of %d callers", n), func() error {
					return e.loop.repeat(ctx, callers[:n], c.Interval)
				})
			}
		}
	}
	for _, e := range r.entries {
		e.Throughput = e.throughput(c.Callers)
	}
}

// throughput returns what was measured at each level.
func (e *entry) throughput(levels []int) (all []Throughput) {
	for _, n := range levels {
		switch {
		case e.standIn() && e.alive():
			all = append(all, Throughput{Callers: n, NA: StandIn})
		case e.loop != nil && e.loop.levels[n] != nil:
			all = append(all, e.loop.levels[n].result(n))
		}
	}
	return all
}
