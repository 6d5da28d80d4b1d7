package bench

import (
	"context"
	"fmt"
	"slices"
)

// addThroughput interleaves the repetitions, so that what changes on the machine meanwhile meets all
// pairs alike.
func (r *run) addThroughput() {
	c := r.config
	levels, rates := slices.Clone(c.Callers), []float64(nil)
	if c.Growth != nil {
		levels, rates = append(levels, c.Growth.Callers...), c.Growth.Rates
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	if len(levels) == 0 && len(rates) == 0 {
		return
	}
	keys := make([]string, c.Keys)
	for i := range keys {
		keys[i] = memoryKey(i)
	}
	measured := slices.DeleteFunc(slices.Clone(r.entries), (*entry).standIn)
	for _, e := range measured {
		r.add(e, "warming up", func(ctx context.Context) (err error) {
			e.loop, err = newLoop(ctx, e.pair, keys)
			return err
		})
	}
	var callers []*caller
	for range c.Repetitions {
		for _, n := range levels {
			for _, e := range measured {
				r.add(e, fmt.Sprintf("throughput of %d callers", n), func(ctx context.Context) error {
					if callers == nil {
						callers = newCallers(slices.Max(levels), c.Keys)
					}
					if err := e.loop.repeat(ctx, callers[:n], c.Interval); err != nil || e.loop.gathered == nil || n == 1 {
						return err
					}
					return e.loop.gathered.repeat(ctx, callers[:n], c.Interval)
				})
			}
		}
	}
	for _, rate := range rates {
		for _, e := range measured {
			r.add(e, fmt.Sprintf("%v requests a second", rate), func(ctx context.Context) error {
				o, err := e.loop.openLoop(ctx, rate, openInterval)
				if err == nil {
					e.OpenLoop = append(e.OpenLoop, o)
				}
				return err
			})
		}
	}
}

// throughput returns what was measured at each level.
func (e *entry) throughput(levels []int) (all []Throughput) {
	for _, n := range levels {
		switch {
		case e.standIn() && e.alive():
			all = append(all, Throughput{Callers: n, NA: StandIn})
		case e.loop != nil && e.loop.levels[n] != nil:
			t := e.loop.levels[n].result(n)
			if g := e.loop.gathered; g != nil && g.levels[n] != nil {
				gathered := g.levels[n].result(n)
				t.Gathered = &gathered
			}
			all = append(all, t)
		}
	}
	return all
}

// callersPoints returns the same at the levels of growth.
func (e *entry) callersPoints(g *GrowthConfig) (all []CallersPoint) {
	if g == nil {
		return nil
	}
	for _, t := range e.throughput(g.Callers) {
		p := t.point()
		if t.Gathered != nil {
			gathered := t.Gathered.point()
			p.Gathered = &gathered
		}
		all = append(all, p)
	}
	return all
}

func (t Throughput) point() CallersPoint {
	return CallersPoint{
		Callers: t.Callers, PerSecond: t.PerSecond, P50US: t.P50US, P99US: t.P99US, Spread: t.Spread, NA: t.NA,
	}
}
