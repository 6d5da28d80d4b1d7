package ask

import (
	"cmp"
	"slices"
)

// span is a closed interval of microseconds since the run's origin.
type span struct{ lo, hi int64 }

type outcome uint8

const (
	failed outcome = iota // no answer, or one that tells nothing of the limit
	allowed
	denied
)

const untold int64 = -1 // what an answer did not say

// answer is what one request got. The service decided at some instant of at.
type answer struct {
	at        span
	outcome   outcome
	wait      int64 // Retry-After in microseconds, or untold
	remaining int64 // or untold
	shot      int   // which of an experiment's
	err       error
}

// group is requests that were under way together: in what order they were decided is not known.
type group struct {
	at              span
	allowed, denied int64
}

// history is what one client was answered, in order.
type history []group

// newHistory forms groups and widens each by what the service's clock may be late or coarse. It ends at the
// first failure: whether that one was counted is not known.
func newHistory(answers []answer, slack int64) history {
	answers = slices.Clone(answers)
	slices.SortStableFunc(answers, func(a, b answer) int { return cmp.Compare(a.at.lo, b.at.lo) })
	var h history
	for _, a := range answers {
		if n := len(h); n == 0 || a.at.lo > h[n-1].at.hi {
			h = append(h, group{at: a.at})
		}
		last := &h[len(h)-1]
		last.at.hi = max(last.at.hi, a.at.hi)
		switch a.outcome {
		case allowed:
			last.allowed++
		case denied:
			last.denied++
		default:
			h = h[:len(h)-1]
			return h.widen(slack)
		}
	}
	return h.widen(slack)
}

func (h history) widen(slack int64) history {
	for i := range h {
		h[i].at.lo -= slack
		h[i].at.hi += slack
	}
	return h
}

// most returns how many requests some window is sure to have seen admitted. Intervals that fit into less than a
// window are in one, wherever in them the decisions fell.
func most(answers []answer, window int64) int64 {
	var admitted []span
	for _, a := range answers {
		if a.outcome == allowed {
			admitted = append(admitted, a.at)
		}
	}
	slices.SortFunc(admitted, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	var best int64
	for i, first := range admitted {
		var n int64
		for _, s := range admitted[i:] {
			if s.lo >= first.lo+window {
				break
			}
			if s.hi < first.lo+window {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}
