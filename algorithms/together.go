package algorithms

import "github.com/weirlimits/weir/internal/combine"

// The callers of one process that ask a counter for one key at the same time share its round
// trips: one addition for all, decided as if they had come one after another, and one that
// gives back what did not fit.

// total is what they ask for in all.
func total(asks []*combine.Ask) (sum int64) {
	for _, ask := range asks {
		sum += ask.Cost
	}
	return sum
}

// failDenied makes err, if any, the answer of the denied: what they added was not given back.
// The admitted have theirs.
func failDenied(asks []*combine.Ask, err error) {
	for _, ask := range asks {
		if !ask.Reply.Allowed {
			ask.Err = err
		}
	}
}
