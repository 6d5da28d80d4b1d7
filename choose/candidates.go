package choose

import (
	"math"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/layers"
)

// candidates lists every algorithm, those with options that the tolerance asks for, and the cages; in the order of
// the tables.
func candidates(w Want) []Candidate {
	var all []Candidate
	seen := map[string]bool{}
	put := func(a, single weir.Algorithm) {
		if _, err := a.Shape(w.limit()); err == nil && !seen[a.String()] { // options that do not go with the limit
			seen[a.String()] = true
			all = append(all, Candidate{Algorithm: a, single: single})
		}
	}
	add := func(a weir.Algorithm) { put(layers.Under(a, w.Limits[1:]), a) }
	for _, a := range algorithms.All() {
		add(a)
		switch a.Name() {
		case algorithms.GCRA(nil).Name():
			if b := w.burst(); b > 0 {
				add(algorithms.GCRA(&algorithms.GCRAOptions{Burst: b}))
			}
		case algorithms.PackedLog(nil).Name():
			for _, o := range w.packed() {
				add(algorithms.PackedLog(&o))
			}
		}
	}
	if cage, ok := w.cage(); ok {
		for _, a := range caged {
			put(weir.Layered(a, weir.Layer{Algorithm: a, Limit: cage}), a)
		}
	}
	return all
}

// burst is the largest of gcra that keeps L+B-1 within what is tolerated; zero where that is none or the limit.
func (w Want) burst() int64 {
	l := w.limit().Count
	if b := int64(math.Floor(w.Over*float64(l)+1e-9)) + 1; w.Over > 0 && b < l {
		return b
	}
	return 0
}

// shares of the limit that a packed log's blocks may hold back.
var shares = []float64{0.01, 0.125}

// packed returns the exact log, and those with blocks: of the usual sizes, and of the tolerated one.
func (w Want) packed() []algorithms.PackedLogOptions {
	const exact = time.Microsecond
	all := []algorithms.PackedLogOptions{{Tick: exact}}
	wanted := shares
	if w.Deny > 0 && w.Deny <= 0.5 {
		wanted = append(wanted[:len(wanted):len(wanted)], w.Deny)
	}
	for _, share := range wanted {
		if int64(share*float64(w.limit().Count)) > 1 { // blocks of one are the exact log
			all = append(all, algorithms.PackedLogOptions{Tick: exact, Error: share})
		}
	}
	return all
}

// caged are the algorithms whose excess comes at once, at the boundary of two windows.
var caged = []weir.Algorithm{algorithms.FixedWindow(), algorithms.FixedWindowFirstHit()}

// cage is the short limit beside a long one: over the largest usual window of at most a tenth of the long one, three
// times the even rate. It does nothing where twice its count is the limit or more.
func (w Want) cage() (weir.Limit, bool) {
	long := w.limit()
	short := long.Window / 10
	for _, usual := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if usual <= long.Window/10 {
			short = usual
			break
		}
	}
	short = short.Truncate(time.Microsecond)
	count := int64(math.Ceil(3 * float64(long.Count) * float64(short) / float64(long.Window)))
	count = max(count, w.Cost)
	cage := weir.Limit{Count: count, Window: short}
	return cage, len(w.Limits) == 1 && !w.Aligned && 2*count < long.Count && cage.Validate() == nil
}
