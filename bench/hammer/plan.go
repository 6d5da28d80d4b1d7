package hammer

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/weirlimits/weir"
)

// plan is all that a [Run] will do.
type plan struct {
	*Config
	results []*Result // in the order of the report
	targets []target
}

// target is a result to be.
type target struct {
	*Result
	store   Store
	limiter *weir.Weir // the parent's own, which names the keys
	prefix  string
	latency time.Duration
}

func newPlan(c *Config) *plan {
	p := &plan{Config: c}
	for _, st := range c.Stores {
		prefix := st.Backend.NewPrefix()
		for _, a := range c.Algorithms {
			p.add(st, a, prefix)
		}
	}
	return p
}

// add plans an algorithm on a store: a target for each latency, or the reason why
// there is none.
func (p *plan) add(st Store, a weir.Algorithm, prefix string) {
	res := Result{Algorithm: a.String(), Store: st.Backend.Name, Server: st.Backend.Server}
	l, err := weir.New(a, p.Limit, st.Backend.Store, &weir.Options{Prefix: prefix})
	if err != nil {
		res.Unsupported, res.Missing = unsupported(err)
		p.results = append(p.results, &res)
		return
	}
	how := l.Plan()
	res.Storeless = how.Needs == 0
	if res.Storeless && st != p.home() {
		return // once is enough
	}
	inProcess := res.Storeless || st.inProcess()
	res.Plan, res.Exactness = how.Name, how.Exactness()
	res.PerProcess, res.ExpectedMax = inProcess, p.expected(l.Capacity(), inProcess)

	latencies := p.Latencies
	if inProcess {
		latencies = []time.Duration{0}
	}
	for _, latency := range latencies {
		one := res
		one.LatencyUS = latency.Microseconds()
		p.results = append(p.results, &one)
		p.targets = append(p.targets, target{Result: &one, store: st, limiter: l, prefix: prefix, latency: latency})
	}
}

func unsupported(err error) (why string, missing []string) {
	lacks, ok := errors.AsType[*weir.UnsupportedError](err)
	if !ok {
		return err.Error(), nil
	}
	for _, m := range lacks.Missing {
		missing = append(missing, m.Lacks.String())
	}
	return "needs " + lacks.Needs(), missing
}

// home is the store beside which a limiter runs that keeps nothing in one.
func (p *plan) home() Store {
	return p.Stores[max(slices.IndexFunc(p.Stores, Store.inProcess), 0)]
}

// expected is the most that one run may let through.
func (p *plan) expected(capacity int64, perProcess bool) int64 {
	if !perProcess {
		return min(capacity, p.Requests)
	}
	var sum int64
	for i := range p.Processes {
		sum += min(capacity, p.share(i))
	}
	return sum
}

// groups yields the targets that one crew can serve: of one store at one latency.
func (p *plan) groups() iter.Seq[[]target] {
	return func(yield func([]target) bool) {
		rest := p.targets
		for len(rest) > 0 {
			first := rest[0]
			var group, others []target
			for _, t := range rest {
				if t.store == first.store && t.latency == first.latency {
					group = append(group, t)
				} else {
					others = append(others, t)
				}
			}
			if !yield(group) {
				return
			}
			rest = others
		}
	}
}

// share is how many requests of a run process i sends.
func (c *Config) share(i int) int64 {
	n, rest := c.Requests/int64(c.Processes), c.Requests%int64(c.Processes)
	if int64(i) < rest {
		n++
	}
	return n
}
