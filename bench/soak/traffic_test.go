package soak_test

import "math/rand/v2"

// traffic makes requests that are hard on a limiter: bursts at the edges of aligned windows and of
// the last burst's, gaps of all lengths, costs up to the capacity and above.
type traffic struct {
	random *rand.Rand
	limit  int64
	window int64 // microseconds
	most   int64 // the largest cost that is taken, below the capacity
	above  int64 // a cost that is never admitted

	now   int64 // the latest time so far
	began int64 // when the burst before began
	left  int   // requests of this burst
	gap   int64 // between them, at most
}

// mostBurst bounds a burst, so that also under large limits there are many.
const mostBurst = 3000

// next moves the clock on and returns a cost.
func (t *traffic) next() int64 {
	if t.left == 0 {
		t.move()
		t.began = t.now
		t.left = 1 + t.random.IntN(int(min(2*t.limit, mostBurst)))
		t.gap = []int64{0, 1, 2 * t.window / t.limit, t.window / (4 * t.limit)}[t.random.IntN(4)]
	} else if t.gap > 0 {
		t.now += t.random.Int64N(t.gap + 1)
	}
	t.left--
	return t.cost()
}

// move goes to where a burst may do harm.
func (t *traffic) move() {
	switch t.random.IntN(9) {
	case 0: // just before an aligned window ends
		t.now += t.window - t.now%t.window - 1
	case 1:
		t.now += t.window - t.now%t.window
	case 2:
		t.now++
	case 3:
		t.now += t.window - 1
	case 4:
		t.now += t.window
	case 5: // the last microsecond in which the burst before is still all there
		t.now = max(t.now, t.began+t.window-1)
	case 6:
		t.now += t.random.Int64N(3 * t.window)
	case 7:
		t.now += t.random.Int64N(t.window/t.limit + 1)
	default: // on top of the burst before
	}
}

func (t *traffic) cost() int64 {
	switch t.random.IntN(40) {
	case 0:
		return 0
	case 1:
		return t.most
	case 2:
		return t.above
	case 3, 4:
		return 1 + t.random.Int64N(t.most)
	default:
		return 1
	}
}
