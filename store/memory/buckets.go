package memory

import "encoding/binary"

// buckets are a hash table of records of any length: a run of bytes, cut into buckets of
// equal size, in which the records lie one behind another. The hash names the bucket, so a
// decision finds its key at one place in memory, and the collector finds no pointer. A key
// whose bucket is full goes to the next; each that it passed counts it, so a search knows
// where to stop and a removal leaves no trace (as in F14, Bronson and Shi, 2019).
//
// A bucket's first unit holds how many passed it, and how many units are used.
type buckets struct {
	bytes []byte
	shift uint8  // a bucket is 1<<shift bytes
	n     uint32 // buckets
	count uint32 // records
	limit uint32 // records from which on there should be more buckets
	used  uint32 // units of all records
}

const bucketHead = 1 // unit

// place is where a record starts, in units; none is no record's.
type place uint32

const none place = 0

// Of a hash the lowest bits choose the shard, the next three are the tag, and the upper
// half chooses the bucket.

func (b *buckets) home(hash uint64) uint32 { return uint32((hash >> 32) * uint64(b.n) >> 32) }

func (b *buckets) after(i uint32) uint32 {
	if i++; i < b.n {
		return i
	}
	return 0
}

func (b *buckets) bucket(i uint32) bucket {
	from := int(i) << b.shift
	return bucket(b.bytes[from : from+1<<b.shift])
}

func (b *buckets) at(p place) record { return record(b.bytes[int(p)*unit:]) }

// split tells in which bucket a place is, and at which unit of it.
func (b *buckets) split(p place) (i uint32, u int) {
	units := uint32(1) << b.shift / unit
	return uint32(p) / units, int(uint32(p) % units)
}

func (b *buckets) join(i uint32, u int) place { return place(int(i)<<b.shift/unit + u) }

type bucket []byte

func (b bucket) passed() uint32      { return binary.LittleEndian.Uint32(b) }
func (b bucket) pass(n uint32)       { binary.LittleEndian.PutUint32(b, b.passed()+n) }
func (b bucket) end() int            { return max(int(b[4]), bucketHead) }
func (b bucket) setEnd(u int)        { b[4] = byte(u) }
func (b bucket) record(u int) record { return record(b[u*unit:]) }

// add makes room for a record of so many units, the first free from its home on. It
// reports how many buckets it passed, and none where all are full: then they count too
// many, and must be rebuilt.
func (b *buckets) add(hash uint64, units int) (p place, passed uint32) {
	i := b.home(hash)
	for ; passed < b.n; passed++ {
		k := b.bucket(i)
		if u := k.end(); u+units <= len(k)/unit {
			k.setEnd(u + units)
			b.used += uint32(units)
			return b.join(i, u), passed
		}
		k.pass(1)
		i = b.after(i)
	}
	return none, passed
}

// cut takes a record out.
func (b *buckets) cut(hash uint64, p place) {
	last, u := b.split(p)
	for i := b.home(hash); i != last; i = b.after(i) {
		b.bucket(i).pass(^uint32(0))
	}
	k := b.bucket(last)
	units, end := k.record(u).units(), k.end()
	copy(k[u*unit:], k[(u+units)*unit:end*unit])
	k.setEnd(end - units)
	b.used -= uint32(units)
}
