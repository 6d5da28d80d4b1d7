package oracle

import (
	"math/bits"
	"sort"
)

// history holds what one key was granted in the window that ends at the latest time, oldest first.
type history struct {
	runs  []run // a ring; its length is zero or a power of two
	head  int
	count int
	left  int64 // cost that has left the window
	total int64 // cost ever added
}

// run is all that was granted at one instant. It keeps the running total instead of its own cost, so
// that the moment at which a given cost has left is found by bisection.
type run struct {
	time    int64
	through int64 // cost ever added, this run included
}

// roomy is the ring length from which it is worth giving memory back.
const roomy = 16

// inWindow returns the cost that lies in the window.
func (h *history) inWindow() int64 { return h.total - h.left }

// advance moves the window so that it ends at t, which is no earlier than any run.
func (h *history) advance(t, window int64) {
	for h.count > 0 {
		oldest := h.at(0)
		if t-oldest.time < window {
			break
		}
		h.left = oldest.through
		h.head = (h.head + 1) & (len(h.runs) - 1)
		h.count--
	}
	if len(h.runs) >= roomy && h.count <= len(h.runs)/4 {
		h.resize(1 << bits.Len(uint(h.count))) // the next power of two above the count
	}
}

// add grants cost at t, which is no earlier than any run. A peek, which costs nothing, leaves no trace.
func (h *history) add(t, cost int64) {
	if cost == 0 {
		return
	}
	h.total += cost
	if h.count > 0 {
		if newest := h.at(h.count - 1); newest.time == t {
			newest.through = h.total
			return
		}
	}
	if h.count == len(h.runs) {
		h.resize(max(1, 2*len(h.runs)))
	}
	h.count++
	*h.at(h.count - 1) = run{time: t, through: h.total}
}

// leaves returns the time of the run with which, oldest first, at least cost has left the window.
// The cost is from one to inWindow.
func (h *history) leaves(cost int64) int64 {
	i := sort.Search(h.count-1, func(i int) bool { return h.at(i).through-h.left >= cost })
	return h.at(i).time
}

// at returns the i-th oldest run.
func (h *history) at(i int) *run { return &h.runs[(h.head+i)&(len(h.runs)-1)] }

// resize moves the runs to a ring of the given length, a power of two.
func (h *history) resize(length int) {
	runs := make([]run, length)
	for i := range h.count {
		runs[i] = *h.at(i)
	}
	h.runs, h.head = runs, 0
}
