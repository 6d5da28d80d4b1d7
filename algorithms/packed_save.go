package algorithms

import "encoding/binary"

// save returns the state's bytes, in the old ones where they fit.
func (p *packed) save() []byte {
	if p.wide && p.markFrom(p.head) < 0 && p.tail-p.head < packedSmallMost/2 {
		p.wide = false // what is left lies in one segment
	}
	if !p.wide {
		if s := p.saveSmall(); s != nil {
			return s
		}
		p.wide, p.lead, p.before = true, packedSegment, 0
		p.area, p.head, p.tail = p.area[p.head:p.tail], 0, p.tail-p.head
		return p.rewrite()
	}
	if p.moved != 0 {
		for m := p.markFrom(p.head); m >= 0; m = p.markFrom(m + 1) {
			tick, _ := p.mark(m)
			put56(p.area[m:], max(tick, 0))
		}
		p.moved = 0
	}
	if _, at := p.place(); p.cut || at+p.entryLen > len(p.area) {
		return p.rewrite()
	}
	p.append()
	p.putHeader()
	return p.state
}

// saveSmall returns a small value, or nil where it would be too long for one.
func (p *packed) saveSmall() []byte {
	var header [8 + 7*maxVarint]byte
	header[0] = packedSmall
	put56(header[1:], p.origin+1)
	h := appendVarint(header[:8], p.block)
	h = appendVarint(h, p.closed)
	h = appendVarint(h, p.last-p.origin)
	h = appendVarint(h, p.pend-p.last)
	h = appendVarint(h, p.run)
	h = appendVarint(h, p.open)
	if p.open > 0 {
		h = appendVarint(h, p.openAt-p.pend)
	}
	stream := p.area[p.head:p.tail]
	size := len(h) + len(stream) + p.entryLen
	if size > packedSmallMost {
		return nil
	}
	s := p.state
	if cap(s) < size || cap(s) > size+2*packedGrowth(0) {
		s = make([]byte, size, size+packedGrowth(0))
		copy(s[len(h):], stream)
	} else {
		s = s[:size]
		copy(s[len(h):], stream) // may overlap
	}
	copy(s[len(h)+len(stream):], p.entry[:p.entryLen])
	copy(s, h)
	return s
}

// place is where the entry to be appended goes, and where a mark before it, or -1.
func (p *packed) place() (mark, at int) {
	switch end := p.end(p.tail); {
	case p.entryLen == 0:
		return -1, p.tail
	case p.border(p.tail):
		return p.tail, p.tail + packedMark
	case p.tail+p.entryLen > end:
		return end, end + packedMark
	default:
		return -1, p.tail
	}
}

// append writes the entry, and a mark if one comes before it, into the room that is there.
func (p *packed) append() {
	mark, at := p.place()
	if mark >= 0 {
		put56(p.area[mark:], p.lastBefore)
		put56(p.area[mark+7:], p.before+p.closedBefore)
	}
	p.tail = at + copy(p.area[at:], p.entry[:p.entryLen])
}

// rewrite makes a new wide value without what has expired, and with new room.
func (p *packed) rewrite() []byte {
	p.head = p.entryFrom(p.head)
	stream := p.area[p.head:p.tail]
	p.lead = p.end(p.head) - p.head
	p.head, p.tail = 0, len(stream)
	_, at := p.place()
	p.state = make([]byte, packedHeader+packedRoom(at+p.entryLen))
	p.area = p.state[packedHeader:]
	copy(p.area, stream)
	p.append()
	p.putHeader()
	return p.state
}

func (p *packed) putHeader() {
	s := p.state
	s[0] = packedWide
	put56(s[1:], p.origin+1)
	put56(s[8:], p.before)
	put56(s[15:], p.closed)
	put56(s[22:], p.last)
	put56(s[29:], p.pend)
	put32(s[36:], p.run)
	put56(s[40:], p.openAt)
	put32(s[47:], p.open)
	binary.LittleEndian.PutUint16(s[51:], uint16(p.lead))
	put32(s[53:], int64(p.head))
	put32(s[57:], int64(p.tail))
	put32(s[61:], p.block)
}
