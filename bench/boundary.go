package bench

import (
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/trace"
)

const (
	boundaryEvents = 20_000 // about so many events has the boundary burst, at most
	burstRequests  = 2000   // above so many places in a burst the requests cost more than one
	leastPhases    = 4
)

// phase is how one key meets the boundary of an aligned window: L places asked for at once so long
// before it, L more a gap later, and maybe one place, the opener, a window less a tick before.
type phase struct {
	before, gap int64 // microseconds
	opener      bool
}

// phases returns the worst ones of the known algorithms first, then a sweep.
func phases(window int64) []phase {
	all := []phase{
		{before: 1, gap: 1},                                       // fixed window: 2L
		{before: 1, gap: window - 1},                              // sliding counter, GCRA: 2L-1
		{before: max(window/2, 1), gap: 1, opener: true},          // first hit: 2L-1
		{before: 1, gap: window},                                  // the first burst has just expired
		{before: max(window/4, 1), gap: window / 4, opener: true}, // opened, then across the boundary
	}
	for _, before := range []int64{1, window / 8, window / 4, window / 2, 3 * window / 4, window} {
		for _, gap := range []int64{1, window / 4, window / 2, 3 * window / 4, window - 1, window} {
			all = append(all, phase{before: max(before, 1), gap: gap})
		}
	}
	seen := map[phase]bool{}
	distinct := all[:0]
	for _, p := range all {
		if !seen[p] {
			seen[p] = true
			distinct = append(distinct, p)
		}
	}
	return distinct
}

// boundaryBurst asks for the limit just before a boundary and again after it, in one phase per key.
func boundaryBurst(limit weir.Limit) Scenario {
	window := limit.Window.Microseconds()
	boundary := simulatedStart(limit.Window) + 2*window
	requests := min(limit.Count, burstRequests)
	sweep := phases(window)
	sweep = sweep[:min(len(sweep), max(leastPhases, int(boundaryEvents/(2*requests))))]

	s := Scenario{Name: "boundary-burst"}
	for i, p := range sweep {
		key := fmt.Sprintf("phase-%010d", i)
		first := boundary - p.before
		if p.opener {
			s.Events = append(s.Events, trace.Event{Time: first - (window - 1), Key: key, Cost: 1})
		}
		for _, at := range []int64{first, first + p.gap} {
			for r := range requests {
				cost := share(limit.Count, r+1, requests) - share(limit.Count, r, requests)
				s.Events = append(s.Events, trace.Event{Time: at, Key: key, Cost: cost})
			}
		}
	}
	s.sort()
	return s
}

// share is total*part/parts, rounded down, without overflow for part up to parts.
func share(total, part, parts int64) int64 {
	return total/parts*part + total%parts*part/parts
}
