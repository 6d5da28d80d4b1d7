package memory

import (
	"encoding/binary"
	"math/bits"
)

// Records lie in one run of bytes, which holds no pointer, so the collector never looks
// into it. A record is named by its place: the unit of 8 bytes at which it starts. What
// is freed goes to a list of its size. A full arena grows by an eighth.
const (
	unit       = 8
	mostUnits  = 63 // of one record
	firstArena = 16 // units of the smallest arena
)

// place is a record's; none is no record's. It reaches 32 GB in each shard, which is more
// than fits into any machine in all of them.
type place uint32

const (
	none       place = 0
	arenaStart place = 1
)

type arena struct {
	bytes []byte
	tail  place // the first unit that was never handed out; below it all is records
	idle  int32 // units in free records
	free  *freeLists
}

// freeLists are the free records by their size in units. Bit n of sizes tells that there
// are some of n units.
type freeLists struct {
	sizes uint64
	heads [mostUnits + 1]place
}

func (a *arena) at(p place) record { return record(a.bytes[int(p)*unit:]) }

// alloc returns a place of so many units. What lies there is garbage until its head is
// written. Records keep their places, but those taken before may lie in old bytes.
func (a *arena) alloc(units uint32) place {
	if p := a.reuse(units); p != none {
		return p
	}
	p := max(a.tail, arenaStart)
	a.tail = p + place(units)
	if need := int(a.tail) * unit; need > len(a.bytes) {
		more := make([]byte, max(need, need/8*9/unit*unit, firstArena*unit))
		copy(more, a.bytes)
		a.bytes = more
	}
	return p
}

// reuse returns a free record of the size or cuts it from the next larger one.
func (a *arena) reuse(units uint32) place {
	if a.free == nil {
		return none
	}
	fit := a.free.sizes >> units << units
	if fit == 0 {
		return none
	}
	size := uint32(bits.TrailingZeros64(fit))
	p := a.free.heads[size]
	next := a.at(p).next()
	a.free.heads[size] = next
	if next == none {
		a.free.sizes &^= 1 << size
	}
	a.idle -= int32(size)
	if size > units {
		a.release(p+place(units), size-units)
	}
	return p
}

// release puts so many units at p into the list of their size.
func (a *arena) release(p place, units uint32) {
	if a.free == nil {
		a.free = new(freeLists)
	}
	binary.LittleEndian.PutUint64(a.at(p), uint64(a.free.heads[units])<<8|uint64(units))
	a.free.heads[units] = p
	a.free.sizes |= 1 << units
	a.idle += int32(units)
}
