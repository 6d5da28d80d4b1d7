package memory

import "encoding/binary"

// record is one key: a head, the key's text, its state, and room for it to grow.
//
//	byte 0      its size in units (6 bits) and its kind (2 bits)
//	bytes 1-7   when it expires, in microseconds of the store's clock
//	bytes 8-9   the text's length or longKey (7 bits), a tag of its hash (3 bits),
//	            the state's length (6 bits)
//
// What does not fit lies beside it, and its state is the number of that. The slice may
// reach beyond the record.
type record []byte

const (
	unit       = 8 // bytes; a record starts and ends at a whole one
	headBytes  = 10
	unitMask   = 63
	longKey    = 127 // the text lies beside, and the record holds none
	textMask   = 127
	tagShift   = 7
	stateShift = 10
	inlineMost = 63 // bytes of the longest state that lies in a record
	besideRef  = 4  // bytes of the number of what lies beside
)

// kind is what a record, or what lies beside it, is.
type kind uint8

const (
	kindValue kind = iota
	kindCounter
	kindBeside // the rest only beside
	kindList
	kindSet
)

func (r record) head() uint64     { return binary.LittleEndian.Uint64(r) }
func (r record) shape() uint16    { return binary.LittleEndian.Uint16(r[8:]) }
func (r record) units() int       { return int(r[0] & unitMask) }
func (r record) kind() kind       { return kind(r[0] >> 6) }
func (r record) expires() int64   { return int64(r.head()) >> 8 }
func (r record) number() uint32   { return binary.LittleEndian.Uint32(r[r.stateAt():]) }
func (r record) isLong() bool     { return r.shape()&textMask == longKey }
func (r record) keyBytes() []byte { return r[headBytes:r.stateAt()] }

func (r record) setHead(units int, k kind, expires int64) {
	binary.LittleEndian.PutUint64(r, uint64(expires)<<8|uint64(k)<<6|uint64(units))
}

func (r record) setExpires(t int64) {
	binary.LittleEndian.PutUint64(r, uint64(t)<<8|uint64(r[0]))
}

func (r record) setStateLen(n int) {
	binary.LittleEndian.PutUint16(r[8:], r.shape()&(1<<stateShift-1)|uint16(n)<<stateShift)
}

func (r record) stateAt() int {
	if n := int(r.shape() & textMask); n != longKey {
		return headBytes + n
	}
	return headBytes
}

// state is what lies in the record, with the room behind it.
func (r record) state() []byte {
	from := r.stateAt()
	return r[from : from+int(r.shape()>>stateShift) : r.units()*unit]
}

// textLen is how much of the key lies in its record.
func textLen(key string) int {
	if len(key) < longKey {
		return len(key)
	}
	return 0
}

// shapeOf is the shape of the key's record, with no state yet.
func shapeOf(hash uint64, key string) uint16 {
	return uint16(min(len(key), longKey)) | uint16(hash>>shardBits&7)<<tagShift
}

// unitsFor is the size of a record whose text and state have so many bytes.
func unitsFor(text, state int) int { return (headBytes + text + state + unit - 1) / unit }
