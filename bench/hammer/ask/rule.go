package ask

import "slices"

// rule is an algorithm as seen from outside. A state is all that it may hold; each method returns the states
// after a request that was decided somewhere in at, none if that answer was not possible. It may return too many states, never too few.
type rule[S comparable] interface {
	idle() S
	admit(s S, at span) []S
	deny(s S, at span) []S
}

// manyStates is when to stop looking: what was not refuted counts as possible.
const manyStates = 1000

// explains returns the first group that no decision times explain, or -1. The requests of a group may have been
// decided in any order. All its denials together ask for no more than one of them: that some state on the way could deny.
func explains[S comparable](r rule[S], h history) int {
	states := []S{r.idle()}
	for i, g := range h {
		before, after := states, []S(nil) // the denials are still to come, or have been
		for n := int64(0); ; n++ {
			if g.denied > 0 {
				for _, s := range before {
					after = append(after, r.deny(s, g.at)...)
				}
				after = distinct(after)
			}
			if n == g.allowed {
				break
			}
			before, after = admitted(r, before, g.at), admitted(r, after, g.at)
			if len(before)+len(after) == 0 {
				return i
			}
			if len(before)+len(after) > manyStates {
				return -1
			}
		}
		states = before
		if g.denied > 0 {
			states = after
		}
		if len(states) == 0 {
			return i
		}
	}
	return -1
}

func admitted[S comparable](r rule[S], states []S, at span) (next []S) {
	for _, s := range states {
		next = append(next, r.admit(s, at)...)
	}
	return distinct(next)
}

func distinct[S comparable](states []S) []S {
	if len(states) < 2 {
		return states
	}
	seen := make(map[S]struct{}, len(states))
	return slices.DeleteFunc(states, func(s S) bool {
		_, twice := seen[s]
		seen[s] = struct{}{}
		return twice
	})
}
