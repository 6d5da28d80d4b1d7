package main

import (
	"slices"

	"github.com/weirlimits/weir/bench"
)

// times compares rates as ratios: each against the median rate of its own run on the same
// store with as many callers, since machines differ.
func (c *comparison) times(a, b *bench.Results) {
	type level struct {
		store   string
		callers int
	}
	rates := func(r *bench.Results) (map[level]map[string]float64, map[level]float64) {
		byLevel, medians := map[level]map[string]float64{}, map[level]float64{}
		for _, one := range r.Results {
			for _, t := range one.Throughput {
				if t.NA != "" || t.PerSecond <= 0 {
					continue
				}
				l := level{one.Store, t.Callers}
				if byLevel[l] == nil {
					byLevel[l] = map[string]float64{}
				}
				byLevel[l][one.Algorithm] = t.PerSecond
			}
		}
		for l, all := range byLevel {
			var sorted []float64
			for _, v := range all {
				sorted = append(sorted, v)
			}
			slices.Sort(sorted)
			medians[l] = sorted[len(sorted)/2]
		}
		return byLevel, medians
	}
	before, beforeMedian := rates(a)
	after, afterMedian := rates(b)
	for l, all := range before {
		for algorithm, rate := range all {
			other, ok := after[l][algorithm]
			if !ok {
				continue
			}
			c.compared++
			was, is := rate/beforeMedian[l], other/afterMedian[l]
			if is > was*timeTolerance || is*timeTolerance < was {
				c.differ("%s on %s, %d callers: %.2f of the median rate, now %.2f", algorithm, l.store, l.callers, was, is)
			}
		}
	}
	slices.Sort(c.differences)
}
