package ask

import "slices"

// A service may hold admitted requests back and let them go one after another, as a leaky bucket that queues. Then
// an answer comes long after its decision, and a denial's, which waits for nothing, tells how long a decision takes.

// held returns how long a burst's admitted requests waited at most if they were let go one per interval, and otherwise
// zero.
func held(burst []answer, interval int64) int64 {
	var quick int64
	var ends []int64
	for _, a := range burst {
		if a.outcome == denied {
			quick = max(quick, a.at.hi-a.at.lo)
		}
	}
	longest := int64(0)
	for _, a := range burst {
		if d := a.at.hi - a.at.lo; a.outcome == allowed && d > 2*quick {
			ends = append(ends, a.at.hi)
			longest = max(longest, d)
		}
	}
	if quick == 0 || len(ends) == 0 || longest < interval/2 {
		return 0
	}
	slices.Sort(ends)
	for i := 1; i < len(ends); i++ {
		if ends[i]-ends[i-1] < interval/2 {
			return 0
		}
	}
	return longest
}

// unhold ends the intervals of held answers where a denial would have been answered.
func unhold(answers []answer, decision int64) []answer {
	answers = slices.Clone(answers)
	for i := range answers {
		a := &answers[i]
		if a.outcome == allowed {
			a.at.hi = min(a.at.hi, a.at.lo+decision)
		}
	}
	return answers
}
