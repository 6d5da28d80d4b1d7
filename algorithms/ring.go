package algorithms

import "encoding/binary"

// ring is a ring of times in a state's bytes: the index of the oldest, how many there
// are (4 bytes each), and a slot of 8 bytes for each that fits. It grows by doubling
// and shrinks when three quarters are free, so a push costs amortised constant time
// and allocates amortised nothing.
type ring struct {
	state   []byte
	head    int
	count   int
	slots   int
	changed bool
}

const (
	ringHeader = 8
	ringSlot   = 8
	ringLeast  = 4 // slots of the smallest ring
)

func openRing(state []byte) (ring, bool) {
	if len(state) == 0 {
		return ring{}, true
	}
	if len(state) < ringHeader || (len(state)-ringHeader)%ringSlot != 0 {
		return ring{}, false
	}
	r := ring{
		state: state,
		head:  int(binary.LittleEndian.Uint32(state)),
		count: int(binary.LittleEndian.Uint32(state[4:])),
		slots: (len(state) - ringHeader) / ringSlot,
	}
	return r, r.count <= r.slots && (r.head < r.slots || r.slots == 0 && r.head == 0)
}

func (r *ring) len() int { return r.count }

func (r *ring) slot(i int) []byte {
	if i += r.head; i >= r.slots {
		i -= r.slots
	}
	return r.state[ringHeader+ringSlot*i:]
}

// at returns the i-th oldest time. It is below zero where a clock was set back to
// within a window of 1970.
func (r *ring) at(i int) int64 { return int64(binary.LittleEndian.Uint64(r.slot(i))<<10) >> 10 }

// firstAfter returns how many times are at most t: the index of the first later one.
func (r *ring) firstAfter(t int64) int {
	lo, hi := 0, r.count
	for lo < hi {
		if mid := (lo + hi) / 2; r.at(mid) <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (r *ring) dropOldest(n int) {
	if n == 0 {
		return
	}
	n = min(n, r.count)
	r.count -= n
	if r.head += n; r.head >= r.slots {
		r.head -= r.slots
	}
	r.save()
}

func (r *ring) dropNewest(n int) {
	r.count -= n
	r.save()
}

// shift moves every time back by d.
func (r *ring) shift(d int64) {
	if d == 0 {
		return
	}
	for i := range r.count {
		binary.LittleEndian.PutUint64(r.slot(i), uint64(r.at(i)-d))
	}
	r.save()
}

// push adds t n times as the newest, into a ring that will hold at most most.
func (r *ring) push(t int64, n, most int) {
	if need := r.count + n; need > r.slots || r.slots > ringLeast && need <= r.slots/4 {
		r.resize(max(need, min(max(ringLeast, 2*r.count), most)))
	}
	for range n {
		r.count++
		binary.LittleEndian.PutUint64(r.slot(r.count-1), uint64(t))
	}
	r.save()
}

// resize copies the times into new bytes, oldest first.
func (r *ring) resize(slots int) {
	bigger := ring{state: make([]byte, ringHeader+ringSlot*slots), count: r.count, slots: slots}
	for i := range r.count {
		copy(bigger.slot(i), r.slot(i)[:ringSlot])
	}
	*r = bigger
}

func (r *ring) save() {
	binary.LittleEndian.PutUint32(r.state, uint32(r.head))
	binary.LittleEndian.PutUint32(r.state[4:], uint32(r.count))
	r.changed = true
}
