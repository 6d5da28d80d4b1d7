// Package hammer asks whether a limiter keeps its limit when many processes hit one
// key at once: real processes, each with a connection of its own to the store.
//
// An atomic limiter lets exactly its capacity through, however the requests fall. One
// that reads first and writes later lets more through, the more the longer a round
// trip takes; a proxy that adds latency before the server makes that visible. A store
// inside the process cannot keep one limit for several processes: each counts alone.
//
// The clock is the real one. A run during which time freed a place, as at the end of a
// window, has no exact number to be held to, and starts again.
package hammer

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/racy"
	"github.com/weirlimits/weir/internal/backend"
)

// MaxRestarts is how often a run that time interfered with starts again.
const MaxRestarts = 5

// Store is a store to hammer.
type Store struct {
	Backend *backend.Backend
	URL     string // that opened it, credentials included
}

// url is that by which another process reaches the same store.
func (s Store) url() (string, error) {
	if s.inProcess() || s.Backend.Shared {
		return s.URL, nil
	}
	return s.Backend.At(s.Backend.Addr)
}

// inProcess tells that no other process can reach the store.
func (s Store) inProcess() bool { return s.Backend.Kind == backend.KindMemory }

// Config says what to hammer, and how hard.
type Config struct {
	Stores     []Store
	Algorithms []weir.Algorithm // what cannot run on a store is listed as unsupported
	Limit      weir.Limit
	Processes  int             // 1 to 64
	Workers    int             // per process, 1 to 1024
	Requests   int64           // per run, of all processes together, 1 to 100,000,000
	Runs       int             // 1 to 10,000
	Spread     time.Duration   // over how long the workers begin, one after another, 0 to 10 s; at 0 all begin at once
	Latencies  []time.Duration // added to each direction, each 0 to 10 s; none stands for 0. A store in the process has none to add

	// Command makes a process that calls [Work] on its standard input and output.
	Command func() *exec.Cmd
	// Progress, if not nil, is called before each run with how many of all are done.
	Progress func(done, total int, next Result)
}

const maxWait = 10 * time.Second

// Validate returns an error that names the field that is out of bounds.
func (c *Config) Validate() error {
	for _, f := range []struct {
		name      string
		value     int64
		low, high int64
	}{
		{"processes", int64(c.Processes), 1, 64},
		{"workers", int64(c.Workers), 1, 1024},
		{"requests", c.Requests, 1, 100_000_000},
		{"runs", int64(c.Runs), 1, 10_000},
	} {
		if f.value < f.low || f.value > f.high {
			return fmt.Errorf("hammer: %s: %d: want %d to %d", f.name, f.value, f.low, f.high)
		}
	}
	if c.Spread < 0 || c.Spread > maxWait {
		return fmt.Errorf("hammer: spread: %v: want 0 to %v", c.Spread, maxWait)
	}
	for _, l := range c.Latencies {
		if l < 0 || l > maxWait {
			return fmt.Errorf("hammer: latency: %v: want 0 to %v", l, maxWait)
		}
	}
	return c.Limit.Validate()
}

// ParseAlgorithm reads an algorithm by name, a racy one too.
func ParseAlgorithm(s string) (weir.Algorithm, error) {
	if a, err := racy.Parse(s); err == nil {
		return a, nil
	}
	return algorithms.Parse(s)
}

// Run hammers every algorithm on every store at every latency. What a process or a
// store answers is in the report, verdicts included. An error means that there is
// none: a field of c is out of bounds, processes cannot be started or died, or ctx
// ended. The keys are removed and the processes have ended when Run returns.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if len(c.Latencies) == 0 {
		c.Latencies = []time.Duration{0}
	}
	p := newPlan(&c)
	r := &runner{Config: &c, total: len(p.targets) * c.Runs}
	for group := range p.groups() {
		if err := r.together(ctx, group); err != nil {
			return nil, err
		}
	}
	rep := &Report{
		Version: ReportVersion, Limit: bench.NewLimitInfo(c.Limit),
		Processes: c.Processes, Workers: c.Workers, Requests: c.Requests, SpreadUS: c.Spread.Microseconds(),
	}
	for _, res := range p.results {
		rep.Results = append(rep.Results, *res)
	}
	return rep, nil
}
