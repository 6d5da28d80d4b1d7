package algorithms

import (
	"encoding/binary"

	"github.com/weirlimits/weir"
)

// packed is the log of [PackedLog]: blocks of b admitted requests, each with the tick
// of its newest. The value has three parts:
//
//   - the open block: how many requests it holds, fewer than b, and its tick;
//   - the newest closed blocks, all at one tick: how many, and the tick;
//   - the stream of all older closed blocks, oldest first. Each entry is the varint of
//     the ticks since the entry before, at least 1; where several blocks share the tick
//     a zero follows, and the varint of how many more.
//
// The first two are in the header, so that equal times and filling blocks touch
// nothing else. A small value has varints in its header and is always written whole. A
// wide one has a header of fixed width and room for a few more entries at its end, so that a
// decision reads and writes a few bytes of it only, whatever its length. Its stream is
// cut into segments; each but the first starts with a mark, the tick before it and the
// number of blocks before it, by which what has expired is jumped over.
type packed struct {
	block int64

	state  []byte
	area   []byte // the stream; wide: with its marks, and room behind the tail
	wide   bool
	cut    bool  // the stream was shortened: what is behind its tail is void
	moved  int64 // by how much ticks in marks are to be moved back
	lead   int   // wide: bytes of the first segment
	head   int   // where the oldest entry starts
	tail   int   // where the newest ends
	origin int64 // the tick before the oldest entry, at least -1 and stored as one more
	before int64 // wide: how many blocks were ever before the oldest entry
	closed int64 // blocks in the stream
	last   int64 // tick of the stream's newest entry

	run, pend    int64 // the newest closed blocks, and their tick
	open, openAt int64 // requests in the open block, and its tick

	entry        [2*maxVarint + 1]byte // what is to be appended to the stream,
	entryLen     int                   // so many bytes
	lastBefore   int64                 // last and closed without it
	closedBefore int64

	ends []packedEntry // those behind the newest mark, while requests are given back
}

// packedEntry is an entry of the stream: where it starts, the tick before it and its own, and its blocks.
type packedEntry struct {
	start        int
	before, tick int64
	blocks       int64
}

const (
	packedSmall = 1 // the first byte: the form
	packedWide  = 2

	packedSmallMost = 1200 // bytes of the largest small value
	packedHeader    = 65   // bytes of a wide header
	packedSegment   = 2048 // bytes of a segment, its mark included
	packedMark      = 14   // bytes of a mark
)

// packedGrowth is by how many bytes a stream that ends at tail grows.
func packedGrowth(tail int) int {
	if tail < 16384 {
		return 64
	}
	return 512
}

// packedRoom is where the area ends whose stream ends at tail.
func packedRoom(tail int) int {
	g := packedGrowth(tail)
	return (tail + g - 1) / g * g
}

// parse reads a state of times up to the tick most. It reports false where the state is not one of its own.
func (p *packed) parse(state []byte, block, most int64) bool {
	*p = packed{block: block, state: state}
	if len(state) == 0 {
		return true
	}
	ok := false
	switch state[0] {
	case packedSmall:
		ok = p.openSmall()
	case packedWide:
		ok = p.openWide()
	}
	return ok && p.last >= p.origin && p.pend >= p.last && p.openAt >= p.pend*min(p.open, 1) &&
		p.open < p.block && (p.run > 0 || p.closed == 0) && p.block <= weir.MaxCount && p.run <= weir.MaxCount && p.closed <= weir.MaxCount &&
		p.origin <= most && p.openAt <= most && p.pend <= most && p.before <= maxTime
}

func (p *packed) openSmall() bool {
	if len(p.state) < 8 {
		return false
	}
	p.origin = get56(p.state[1:]) - 1
	i := 8
	var lastBy, pendBy, openBy int64
	for _, field := range []*int64{&p.block, &p.closed, &lastBy, &pendBy, &p.run, &p.open, &openBy} {
		if field == &openBy && p.open == 0 {
			break
		}
		if *field, i = varint(p.state, i); i == 0 {
			return false
		}
	}
	p.last = p.origin + lastBy
	p.pend = p.last + pendBy
	p.openAt = p.pend + openBy
	p.area = p.state[i:]
	p.tail = len(p.area)
	return true
}

func (p *packed) openWide() bool {
	s := p.state
	if len(s) < packedHeader {
		return false
	}
	p.wide = true
	p.origin, p.before, p.closed = get56(s[1:])-1, get56(s[8:]), get56(s[15:])
	p.last, p.pend, p.run = get56(s[22:]), get56(s[29:]), get32(s[36:])
	p.openAt, p.open = get56(s[40:]), get32(s[47:])
	p.lead = int(binary.LittleEndian.Uint16(s[51:]))
	p.head, p.tail = int(get32(s[53:])), int(get32(s[57:]))
	p.block = get32(s[61:])
	p.area = s[packedHeader:]
	return p.lead <= packedSegment && p.head <= p.tail && p.tail <= len(p.area)
}

// regroup turns a log with other blocks, as another limit may have made it, into one with
// these: all at the newest time, which never admits too many.
func (p *packed) regroup(block int64) {
	n, newest := min(p.count(), weir.MaxCount), p.newest()
	p.block, p.run, p.open = block, n/block, n%block
	p.pend, p.openAt = newest*min(p.run, 1), newest*min(p.open, 1)
	p.clear()
}

// newest is the newest tick; zero of an empty log.
func (p *packed) newest() int64 {
	if p.open > 0 {
		return p.openAt
	}
	return p.pend
}

// count is how many requests the log counts.
func (p *packed) count() int64 { return (p.closed+p.run)*p.block + p.open }

// shift moves all ticks back by d, to no earlier than the start of time: where the
// oldest would be, all is moved to at.
func (p *packed) shift(d, at int64) {
	if p.closed > 0 && p.origin < d || p.run > 0 && p.pend < d {
		p.run += p.closed
		p.pend, p.openAt = at, at
		p.clear()
		return
	}
	p.moved = d
	p.origin, p.last = max(p.origin-d, 0), max(p.last-d, 0)
	p.pend, p.openAt = max(p.pend-d, 0), max(p.openAt-d, 0)
}

// clear empties the stream.
func (p *packed) clear() {
	p.area, p.head, p.tail, p.closed, p.wide, p.moved = nil, 0, 0, 0, false, 0
	p.origin, p.last = p.pend, p.pend
}

// expire drops what is at tick floor or before. It changes no bytes. It reports false where the stream
// ends before it has as many blocks and ticks as the header says: else what is logged behind it would
// look long gone, and the log would count nothing.
func (p *packed) expire(floor int64) bool {
	if p.open > 0 && p.openAt <= floor {
		p.open, p.openAt = 0, 0
	}
	if p.run > 0 && p.pend <= floor {
		p.run, p.pend = 0, 0
		p.clear()
	}
	if p.closed == 0 {
		return true
	}
	if p.last <= floor {
		p.clear()
		return true
	}
	for {
		m := p.markFrom(p.head)
		if m < 0 {
			break
		}
		tick, blocks := p.mark(m)
		if tick > floor {
			break
		}
		p.closed -= blocks - p.before
		p.head, p.origin, p.before = m+packedMark, tick, blocks
	}
	for {
		next, by, blocks := p.read(p.head)
		if next < 0 || p.origin+by > floor {
			return next >= 0
		}
		p.head, p.origin = next, p.origin+by
		p.closed -= blocks
		p.before += blocks
	}
}

// leaves is the tick of the block that holds the n-th oldest request.
func (p *packed) leaves(n int64) int64 {
	k := ceilDiv(n, p.block)
	switch {
	case k > p.closed+p.run:
		return p.openAt
	case k > p.closed:
		return p.pend
	}
	at, tick, seen := p.head, p.origin, p.before
	k += p.before
	for {
		m := p.markFrom(at)
		if m < 0 {
			break
		}
		t, blocks := p.mark(m)
		if blocks >= k {
			break
		}
		at, tick, seen = m+packedMark, t, blocks
	}
	for seen < k {
		next, by, blocks := p.read(at)
		if next < 0 {
			return p.last
		}
		at, tick, seen = next, tick+by, seen+blocks
	}
	return min(tick, p.last)
}

// border tells whether a mark starts, or is to start, at i.
func (p *packed) border(i int) bool {
	return p.wide && i >= p.lead && (i-p.lead)%packedSegment == 0
}

// end is where the segment ends whose entry, or whose mark, is at i.
func (p *packed) end(i int) int {
	switch {
	case !p.wide:
		return p.tail
	case i < p.lead:
		return p.lead
	default:
		return i + packedSegment - (i-p.lead)%packedSegment
	}
}

// markFrom is where the first mark at or behind i starts, or -1.
func (p *packed) markFrom(i int) int {
	if !p.wide {
		return -1
	}
	if !p.border(i) {
		i = p.end(i)
	}
	if i+packedMark > p.tail {
		return -1
	}
	return i
}

func (p *packed) mark(m int) (tick, blocks int64) {
	return get56(p.area[m:]) - p.moved, get56(p.area[m+7:])
}

// entryFrom is where the first entry at or behind i starts: over a mark, and over the
// zeros that fill a segment's end. It is the tail where there is none.
func (p *packed) entryFrom(i int) int {
	for i < p.tail {
		switch {
		case p.border(i):
			i += packedMark
		case p.area[i] != 0:
			return i
		default:
			i = p.end(i)
		}
	}
	return p.tail
}

// read returns the entry at or behind i: where the next may start, its distance in
// ticks, and how many blocks it stands for. next is -1 at the stream's end.
func (p *packed) read(i int) (next int, by, blocks int64) {
	if i = p.entryFrom(i); i >= p.tail {
		return -1, 0, 0
	}
	segment := p.area[:min(p.end(i), p.tail)]
	by, next = varint(segment, i)
	if next == 0 || by == 0 {
		return -1, 0, 0
	}
	blocks = 1
	if next < len(segment) && segment[next] == 0 {
		if more, after := varint(segment, next+1); after != 0 && more > 0 {
			blocks, next = 1+more, after
		}
	}
	return next, by, blocks
}

// push logs n requests at a tick that is not before the newest.
func (p *packed) push(tick, n int64) {
	if p.block > 1 && p.open > 0 {
		fill := min(n, p.block-p.open)
		p.open, p.openAt = p.open+fill, tick
		n -= fill
		if p.open == p.block {
			p.open, p.openAt = 0, 0
			p.close(tick, 1)
		}
	}
	if full := n / p.block; full > 0 {
		p.close(tick, full)
	}
	if rest := n % p.block; rest > 0 {
		p.open, p.openAt = rest, tick
	}
}

// close logs full blocks. One push closes blocks at one tick only, so at most one entry
// goes to the stream.
func (p *packed) close(tick, blocks int64) {
	if p.run > 0 && p.pend == tick {
		p.run += blocks
		return
	}
	if p.run > 0 {
		if p.closed == 0 {
			p.clear()
			p.origin, p.last = p.pend-1, p.pend-1
		}
		entry := appendVarint(p.entry[:0], p.pend-p.last)
		if p.run > 1 {
			entry = appendVarint(append(entry, 0), p.run-1)
		}
		p.entryLen = len(entry)
		p.lastBefore, p.closedBefore = p.last, p.closed
		p.closed, p.last = p.closed+p.run, p.pend
	}
	p.pend, p.run = tick, blocks
}
