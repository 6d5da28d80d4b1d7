// Package racy holds limiters that are broken in the ways that limiters often are, so
// that a comparison can show what atomicity is worth. Each decides by commands that
// are sound one by one and wrong together: it looks, concludes, and only then writes,
// and whoever looks in between concludes the same. Sequential tests pass; under load,
// or under an attacker who sends everything at once, the limit leaks.
//
// They are for showing and never for use: no registry lists them, [Parse] alone finds
// them by name, and their plans say that they are racy. What they declare is what
// they would keep if nobody else were there.
package racy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimits/weir"
)

// All returns the racy limiters, in the order of the tables.
func All() []weir.Algorithm {
	return []weir.Algorithm{SlidingLog(), RingLog(), MemoryNaive()}
}

// Parse returns the racy limiter of that name: "sliding-log-racy", "ring-log-racy" or
// "memory-naive". They have no options. An unknown name is a [weir.FieldError].
func Parse(name string) (weir.Algorithm, error) {
	all := All()
	i := slices.IndexFunc(all, func(a weir.Algorithm) bool { return a.Name() == name })
	if i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Name()
	}
	return nil, &weir.FieldError{
		Field: "racy algorithm", Value: strconv.Quote(name),
		Want: "one of " + strings.Join(names, ", ") + ", without options",
	}
}

// maxEntries bounds the cost of one request: each limiter keeps an entry per request.
const maxEntries = 1000

// now is the caller's own clock, also where the store has one: whoever runs ahead
// throws away what the others still need.
func now(b weir.Binding) (int64, error) {
	if b.Clock != nil {
		return weir.Micros(b.Clock())
	}
	return weir.Micros(time.Now())
}
