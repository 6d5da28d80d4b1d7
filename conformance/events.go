package conformance

import (
	"math/rand/v2"

	"github.com/weirlimits/weir"
)

// event is a request of a simulated client.
type event struct {
	gap  int64 // microseconds since the one before; untilRetry: as long as the last denial told
	cost int64 // below zero: given back
}

const untilRetry = int64(-1)

// patterns are the ways in which clients wear a limiter down. Each draws n events.
var patterns = []func(rng *rand.Rand, l weir.Limit, n int) []event{
	atRandom, greedily, atBoundaries, steadily,
}

// atRandom mixes gaps about everything that matters to a limiter.
func atRandom(rng *rand.Rand, l weir.Limit, n int) []event {
	w := l.Window.Microseconds()
	events := make([]event, n)
	for i := range events {
		var gap int64
		switch rng.IntN(8) {
		case 0, 1, 2:
		case 3:
			gap = 1
		case 4:
			gap = w - rng.Int64N(3) + 1
		case 5:
			gap = rng.Int64N(2*w/l.Count + 1)
		case 6:
			gap = rng.Int64N(3 * w)
		case 7:
			gap = rng.Int64N(w/4 + 1)
		}
		events[i] = event{gap: gap, cost: 1}
		if rng.IntN(4) == 0 {
			events[i].cost = rng.Int64N(min(l.Count, 4) + 1)
		}
	}
	return events
}

// greedily comes back at the very instant that it was told.
func greedily(rng *rand.Rand, _ weir.Limit, n int) []event {
	events := make([]event, n)
	for i := range events {
		events[i] = event{cost: 1}
		if rng.IntN(2) == 0 {
			events[i].gap = untilRetry
		}
	}
	return events
}

// atBoundaries takes all just before an aligned window ends, and again when it has.
func atBoundaries(rng *rand.Rand, l weir.Limit, n int) []event {
	w := l.Window.Microseconds()
	var events []event
	for len(events) < n {
		burst := l.Count + rng.Int64N(2)
		for i := range burst {
			e := event{cost: 1}
			if i == 0 {
				e.gap = []int64{1, 2, w - 1, w, w - 2, w + 1}[rng.IntN(6)]
			}
			events = append(events, e)
		}
	}
	return events
}

// steadily asks a little faster than the limit allows.
func steadily(rng *rand.Rand, l weir.Limit, n int) []event {
	each := l.Window.Microseconds() / l.Count
	events := make([]event, n)
	for i := range events {
		events[i] = event{gap: each/2 + rng.Int64N(each/2+1), cost: 1}
	}
	return events
}

// draw returns the events of one trial, by one pattern after another.
func (p *probe) draw(round int, l weir.Limit, n int) []event {
	return patterns[round%len(patterns)](p.rng, l, n)
}
