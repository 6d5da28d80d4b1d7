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
	most, number := inlineMost, uint32(0)
	beside := p != none && sh.at(p).kind() == kindBeside
	if beside {
		most /= 2 // what hovers about the border stays
		number = sh.at(p).number()
	}
	if len(key) >= longKey || len(value) > most {
		if !beside {
			value = bytes.Clone(value) // it may lie in the record
		}
		return sh.putBeside(hash, key, p, extension{kind: k, value: value}, expires, now)
	}
	var copied [inlineMost]byte // where records move, a value in one does too
	n := copy(copied[:], value)
	if p = sh.fit(hash, key, p, n, now); p == none {
		return false
	}
	if beside {
		sh.beside.remove(number)
	}
	sh.at(p).write(copied[:n], k, expires)
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
	var number [besideRef]byte
	binary.LittleEndian.PutUint32(number[:], sh.beside.add(&x))
	sh.at(p).write(number[:], kindBeside, expires)
	return true
}

func (r record) write(state []byte, k kind, expires int64) {
	copy(r[r.stateAt():], state)
	r.setStateLen(len(state))
	r.setHead(r.units(), k, expires)
}

// fit returns a record for the key with room for so many bytes of state: the one at p, or
// a new one in its place without its state. It returns none where the store is full.
func (sh *shard) fit(hash uint64, key string, p place, state int, now int64) place {
	text := textLen(key)
	if p == none {
		return sh.enter(hash, key, unitsFor(text, state), now)
	}
	least := unitsFor(text, state)
	switch units := sh.at(p).units(); {
	case units < least: // what grew once may grow again
		least = unitsFor(text, min(state+state/4, inlineMost))
	case units <= 2*least:
		return p
	}
	sh.cut(hash, p)
	return sh.place(hash, key, least)
}

// enter makes a record for a new key. It returns none where the store is full.
func (sh *shard) enter(hash uint64, key string, units int, now int64) place {
	c := sh.table.core
	if c.count.Add(1) > c.maxKeys && !sh.freeOne(now, sweepSlice) { // counted before it is there
		c.count.Add(-1)
		return none
	}
	if sh.count++; sh.count > sh.limit {
		sh.resize(uint32(units), false)
	}
	return sh.place(hash, key, units)
}

// farthest is how many buckets a new record may pass before it is asked whether there
// should be more: records may have become longer.
const farthest = 8

// place adds a record, which is counted already, with its text and no state.
func (sh *shard) place(hash uint64, key string, units int) place {
	p, passed := sh.add(hash, units)
	switch {
	case p == none:
		sh.resize(uint32(units), true)
		return sh.place(hash, key, units)
	case passed > farthest:
		sh.limit = min(sh.limit, sh.count)
	}
	r := sh.at(p)
	r.setHead(units, kindValue, 0)
	binary.LittleEndian.PutUint16(r[8:], shapeOf(hash, key))
	copy(r[headBytes:], key[:textLen(key)])
	return p
}

func (sh *shard) remove(p place) {
	r := sh.at(p)
	hash := sh.hashOf(r)
	if r.kind() == kindBeside {
		sh.beside.remove(r.number())
	}
	sh.cut(hash, p)
	sh.count--
	sh.table.core.count.Add(-1)
}
