package algorithms

// giveBack takes the newest n requests out, at most all there are. It reports false where the stream has
// not the blocks or the time that the header says.
func (p *packed) giveBack(n int64) bool {
	taken := min(n, p.open)
	p.open, n = p.open-taken, n-taken
	if p.open == 0 {
		p.openAt = 0
	}
	for n > 0 && p.run > 0 {
		blocks := min(n/p.block, p.run)
		p.run, n = p.run-blocks, n-blocks*p.block
		if p.run > 0 && n > 0 { // a part of a block: the rest of it is open again
			p.run--
			p.open, p.openAt, n = p.block-n, p.pend, 0
		}
		if p.run == 0 && !p.popLast() {
			return false
		}
	}
	return true
}

// readLast reads the entries behind the newest mark: once for all that are given back from there.
func (p *packed) readLast() {
	i, tick := p.head, p.origin
	for m := p.markFrom(i); m >= 0; m = p.markFrom(i) {
		tick, _ = p.mark(m)
		i = m + packedMark
	}
	for {
		next, by, blocks := p.read(i)
		if next < 0 {
			return
		}
		p.ends = append(p.ends, packedEntry{p.entryFrom(i), tick, tick + by, blocks})
		i, tick = next, tick+by
	}
}

// popLast moves the stream's newest entry into the header.
func (p *packed) popLast() bool {
	if len(p.ends) == 0 {
		p.readLast()
	}
	last := packedEntry{start: -1}
	if n := len(p.ends); n > 0 {
		last, p.ends = p.ends[n-1], p.ends[:n-1]
	}
	start, before, tick, blocks := last.start, last.before, last.tick, last.blocks
	if start >= 0 && (tick != p.last || before < p.origin) {
		return false
	}
	if start < 0 || blocks >= p.closed {
		if blocks != p.closed {
			return false
		}
		p.run, p.pend = blocks, tick
		p.clear()
		return true
	}
	if p.border(start - packedMark) {
		start -= packedMark
	}
	p.run, p.pend = blocks, tick
	p.closed, p.last, p.tail = p.closed-blocks, before, start
	p.cut = true
	return true
}
