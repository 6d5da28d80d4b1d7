package memory

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// put makes value the key's, whose record is at p or none. The value may be the record's
// own bytes, the scratch or what lies beside; a long one may be kept and not copied. It
// reports false where the store is full.
func (sh *shard) put(hash uint64, key string, p place, k kind, value []byte, expires, now int64) bool {
	most, beside, number := inlineMost, false, uint32(0)
	if p != none && sh.at(p).kind() == kindBeside {
		most /= 2 // what hovers about the border stays
		beside, number = true, sh.at(p).number()
	}
	if len(key) >= longKey || len(value) > most {
		if !beside {
			value = bytes.Clone(value) // it may lie in the record
		}
		return sh.putBeside(hash, key, p, extension{kind: k, value: value}, expires, now)
	}
	if p = sh.fit(hash, key, p, len(value), now); p == none {
		return false
	}
	r := sh.at(p)
	if beside {
		sh.beside.remove(number)
	}
	at := r.stateAt()
	r[8] = byte(copy(r[at:at+len(value)], value))
	r.setHead(r.units(), k, expires)
	return true
}

// putBeside makes x the key's, beside its record.
func (sh *shard) putBeside(hash uint64, key string, p place, x extension, expires, now int64) bool {
	if len(key) >= longKey {
		x.key = strings.Clone(key) // the caller's may be a part of something large
	}
	if p != none {
		if r := sh.at(p); r.kind() == kindBeside {
			*sh.extension(r) = x
			r.setExpires(expires)
			return true
		}
	}
	if p = sh.fit(hash, key, p, besideRef, now); p == none {
		return false
	}
	if sh.beside == nil {
		sh.beside = new(beside)
	}
	r := sh.at(p)
	binary.LittleEndian.PutUint32(r[r.stateAt():], sh.beside.add(&x))
	r[8] = besideRef
	r.setHead(r.units(), kindBeside, expires)
	return true
}

// fit returns a record for the key with room for so many bytes of state: the one at p,
// or a new one in its place, which holds its text. The old one's state stays readable
// until the next change. It returns none where the store is full.
func (sh *shard) fit(hash uint64, key string, p place, state int, now int64) place {
	if p == none {
		return sh.enter(hash, key, state, now)
	}
	old := sh.at(p)
	text := old.stateAt() - headBytes
	if units := old.units(); state <= old.room() && units <= 2*unitsFor(text, state) {
		return p
	}
	units := unitsFor(text, state+state/4) // what grew once may grow again
	q := sh.alloc(units)
	old = sh.at(p)
	r := sh.at(q)
	copy(r, old[:old.stateAt()])
	r.setHead(units, old.kind(), 0)
	sh.index.replace(hash, p, q)
	sh.release(p, old.units())
	return q
}

// enter makes a record for a new key. It returns none where the store is full.
func (sh *shard) enter(hash uint64, key string, state int, now int64) place {
	c := sh.table.core
	if c.count.Add(1) > c.maxKeys && !sh.freeOne(now, sweepSlice) { // counted before it is there
		c.count.Add(-1)
		return none
	}
	text, length := key, byte(longKey)
	if len(key) < longKey {
		length = byte(len(key))
	} else {
		text = ""
	}
	units := unitsFor(len(text), state)
	p := sh.alloc(units)
	r := sh.at(p)
	r.setHead(units, kindValue, 0)
	r[9] = length
	copy(r[headBytes:], text)
	if sh.count++; int(sh.count) > len(sh.index)*bucketFull {
		sh.reindex()
	}
	sh.index.add(hash, p)
	return p
}

// reindex makes an index for one key more than are entered. It is the longest that a
// caller holds the shard.
func (sh *shard) reindex() {
	x := indexFor(int(sh.count))
	for i := range sh.index {
		for _, p := range &sh.index[i].places {
			if p != none {
				x.add(sh.hashOf(sh.at(p)), p)
			}
		}
	}
	sh.index = x
}

func (sh *shard) remove(p place) {
	r := sh.at(p)
	sh.index.remove(sh.hashOf(r), p)
	if r.kind() == kindBeside {
		sh.beside.remove(r.number())
	}
	sh.release(p, r.units())
	sh.count--
	sh.table.core.count.Add(-1)
}

// reset drops all records.
func (sh *shard) reset() {
	sh.index, sh.arena, sh.beside = nil, arena{}, nil
	sh.hand, sh.count = arenaStart, 0
	sh.moves++
}

// compactFrom is the size, in units, below which a shard is only compacted when it is empty.
const compactFrom = 128

// compact gives memory back after a flood: once all records are free, or half of many.
func (sh *shard) compact() {
	switch {
	case sh.tail == none:
		return
	case sh.count == 0:
		sh.reset()
		return
	case sh.tail < compactFrom || sh.idle < int32(sh.tail)/2:
		return
	}
	old := sh.arena
	sh.arena, sh.index = arena{}, indexFor(int(sh.count))
	sh.hand = arenaStart
	sh.moves++
	for p := arenaStart; p < old.tail; {
		r := old.at(p)
		if r.kind() != kindFree {
			q := sh.alloc(r.units())
			copy(sh.at(q), r[:int(r.units())*unit])
			sh.index.add(sh.hashOf(r), q)
		}
		p += place(r.units())
	}
}
