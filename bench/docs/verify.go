package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/weirlimits/weir/bench"
)

const (
	// tolerance is how far bytes, counts and round trips may differ between two runs.
	tolerance = 0.02
	// grain is by how many bytes a key's share may differ beside that: servers allocate in steps, and
	// grow their tables of keys by doubling.
	grain = 8
	// timeTolerance is by what factor a time may differ, held against the median of its run's.
	timeTolerance = 2
)

// verify compares two runs of the same flags and lists what differs.
func verify(w io.Writer, oldName, newName string) error {
	a, err := readRun(oldName)
	if err != nil {
		return err
	}
	b, err := readRun(newName)
	if err != nil {
		return err
	}
	c := comparison{}
	for i := range a.Results {
		one := &a.Results[i]
		name := one.Algorithm + " on " + one.Store
		other, err := result(b, one.Store, one.Algorithm)
		if err != nil {
			c.differ("%s: missing in %s", name, newName)
			continue
		}
		c.pair(name, one, other)
	}
	c.times(a, b)
	for _, d := range c.differences {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	if c.compared == 0 {
		return fmt.Errorf("docs: verify: nothing to compare in %s and %s", oldName, newName)
	}
	if len(c.differences) > 0 {
		return fmt.Errorf("docs: verify: %d of %d figures differ", len(c.differences), c.compared)
	}
	_, err = fmt.Fprintf(w, "%d figures agree\n", c.compared)
	return err
}

func readRun(name string) (*bench.Results, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("docs: verify: %w", err)
	}
	defer f.Close()
	return bench.ReadResults(f, name)
}

type comparison struct {
	compared    int
	differences []string
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// figure compares two that must agree.
func (c *comparison) figure(what string, a, b float64) {
	c.within(what, a, b, 0)
}

func (c *comparison) within(what string, a, b, slack float64) {
	c.compared++
	if math.Abs(a-b) > max(tolerance*max(math.Abs(a), math.Abs(b)), slack) {
		c.differ("%s: %g, now %g", what, a, b)
	}
}

func (c *comparison) pair(name string, a, b *bench.Result) {
	c.figure(name+": trips", float64(a.Trips), float64(b.Trips))
	for scenario, p := range a.Precision {
		q := b.Precision[scenario]
		what := name + ": " + scenario
		c.figure(what+": allowed", float64(p.Allowed), float64(q.Allowed))
		c.figure(what+": most in a window", float64(p.MaxInWindow), float64(q.MaxInWindow))
		c.figure(what+": denied without need", float64(p.FalseDenied), float64(q.FalseDenied))
	}
	for _, p := range a.Memory {
		if p.NA == "" {
			q, err := bytesAt(b, p.Events)
			if err != nil {
				c.differ("%s: %v", name, err)
				continue
			}
			c.within(fmt.Sprintf("%s: bytes after %d events", name, p.Events), p.BytesPerKey, q, grain)
		}
	}
	if a.Cost != nil && b.Cost != nil && a.Cost.NA == "" && b.Cost.NA == "" {
		c.figure(name+": round trips", a.Cost.Trips, b.Cost.Trips)
		c.figure(name+": commands", a.Cost.Commands, b.Cost.Commands)
	}
}
