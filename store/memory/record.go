package memory

import "encoding/binary"

// record is one key: a head, the key's text, its state, and room for it to grow.
//
//	byte 0      its size in units (6 bits) and its kind (2 bits)
//	bytes 1-7   when it expires, in microseconds of the store's clock
//	byte 8      the state's length
//	byte 9      the key's length, or longKey
//
// What does not fit lies beside it, and its state is the number of that. The slice may
// reach beyond the record.
type record []byte

const (
	headBytes  = 10
	longKey    = 255 // the text lies beside, and the record holds none
	inlineMost = 128 // bytes of the longest state that lies in a record
	besideRef  = 4   // bytes of the number of what lies beside
)

// kind is what a record, or what lies beside it, is.
type kind uint8

const (
	kindFree kind = iota
	kindValue
	kindCounter
	kindBeside // the rest only beside
	kindList
	kindSet
)

func (r record) head() uint64     { return binary.LittleEndian.Uint64(r) }
func (r record) units() uint32    { return uint32(r[0] & mostUnits) }
func (r record) kind() kind       { return kind(r[0] >> 6) }
func (r record) expires() int64   { return int64(r.head()) >> 8 }
func (r record) next() place      { return place(r.head() >> 8) } // of a free record
func (r record) number() uint32   { return binary.LittleEndian.Uint32(r[r.stateAt():]) }
func (r record) keyBytes() []byte { return r[headBytes:r.stateAt()] }

func (r record) setHead(units uint32, k kind, expires int64) {
	binary.LittleEndian.PutUint64(r, uint64(expires)<<8|uint64(k)<<6|uint64(units))
}

func (r record) setExpires(t int64) {
	binary.LittleEndian.PutUint64(r, uint64(t)<<8|uint64(r[0]))
}

func (r record) stateAt() int {
	if n := int(r[9]); n != longKey {
		return headBytes + n
	}
	return headBytes
}

// state is what lies in the record, with the room behind it.
func (r record) state() []byte {
	from := r.stateAt()
	return r[from : from+int(r[8]) : int(r.units())*unit]
}

// room is how many bytes of state fit.
func (r record) room() int { return int(r.units())*unit - r.stateAt() }

// unitsFor is the size of a record whose text and state have so many bytes.
func unitsFor(text, state int) uint32 { return uint32(headBytes+text+state+unit-1) / unit }
