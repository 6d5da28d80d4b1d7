package memory

import (
	"encoding/binary"
	"math/bits"
)

// Records lie in chunks of bytes that hold no pointer, so the collector never looks into
// them. A record is named by its place: which unit of 8 bytes it starts at, counted over
// all chunks. It never crosses a chunk's end. What is freed goes to a list of its size.
const (
	unit       = 8
	chunkUnits = 1024
	chunkBytes = chunkUnits * unit
	firstChunk = 256 // bytes of a first chunk, doubled until it is a whole one
	mostUnits  = 63  // of one record
)

// place is a record's; none is no record's.
type place uint32

const none place = 0

// freeLists are the free records by their size in units. Bit n of sizes tells that there
// are some of n units.
type freeLists struct {
	sizes uint64
	heads [mostUnits + 1]place
}

type arena struct {
	chunks [][]byte
	tail   place // the first unit that was never handed out; below it all is records
	idle   int32 // units in free records
	free   *freeLists
}

const arenaStart place = 1 // unit 0 is none's

func (a *arena) at(p place) record {
	return record(a.chunks[p/chunkUnits][p%chunkUnits*unit:])
}

// alloc returns a place of so many units. What lies there is garbage until its head is
// written. Other records stay where they are, but records taken before may lie in an
// old copy of their chunk.
func (a *arena) alloc(units uint32) place {
	if p := a.reuse(units); p != none {
		return p
	}
	p := max(a.tail, arenaStart)
	if rest := chunkUnits - uint32(p%chunkUnits); rest < units {
		a.release(p, rest)
		p += place(rest)
	}
	a.tail = p + place(units)
	a.reach(a.tail)
	return p
}

// reach makes bytes for all units below end.
func (a *arena) reach(end place) {
	last := int(end-1) / chunkUnits
	if last == 0 {
		size := firstChunk
		for size < int(end)*unit {
			size *= 2
		}
		switch {
		case len(a.chunks) == 0:
			a.chunks = [][]byte{make([]byte, size)}
		case len(a.chunks[0]) < size:
			more := make([]byte, size)
			copy(more, a.chunks[0])
			a.chunks[0] = more
		}
		return
	}
	if last == len(a.chunks) {
		a.chunks = append(a.chunks, make([]byte, chunkBytes))
	}
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
