package memory

import "slices"

// Buckets are sized by the mean of their records, rounded up, so that at least six go into
// one, if they can.
const (
	leastShift uint8 = 8 // 256 bytes
	mostShift  uint8 = 10
)

// filling is how full a table may be, in 16ths of what fits, before it grows by a share of
// itself. On the mean a fifth is free, or a tenth.
type filling struct{ full, share uint32 }

var (
	roomy   = filling{full: 14, share: 8}
	compact = filling{full: 15, share: 16}
)

// meanOf is the mean size of so many records of so many units in all, rounded up.
func meanOf(records, units uint32) uint32 { return max((units+records-1)/records, 2) }

// perBucket is how many records of that size go into a bucket.
func perBucket(shift uint8, mean uint32) uint32 { return (1<<shift/unit - bucketHead) / mean }

// limit is how many records of that size fill so many buckets.
func (f filling) limit(shift uint8, n, mean uint32) uint32 {
	per := perBucket(shift, mean)
	if n <= 1 {
		return n * per
	}
	return uint32(uint64(n) * uint64(per) * uint64(f.full) / 16)
}

// size is how large and how many buckets should be for so many records of that size.
func (f filling) size(records, mean uint32) (shift uint8, n uint32) {
	shift = leastShift
	for perBucket(shift, mean) < 6 && shift < mostShift {
		shift++
	}
	per := perBucket(shift, mean)
	if records <= per {
		return shift, 1
	}
	n = (records*16 + per*f.full - 1) / (per * f.full)
	return shift, n + n/f.share
}

// resize makes room for a record of more units besides those that are there, which is
// counted already, if there is too little; there is where all buckets are full. It is the
// longest that a caller holds the shard; records move in order, so memory is read and
// written in order.
func (sh *shard) resize(more uint32, full bool) {
	mean := meanOf(sh.count, sh.used+more)
	shift, n := sh.table.core.filling.size(sh.count, mean)
	for full && int(n)<<shift <= len(sh.bytes) {
		n += n/4 + 1
	}
	if int(n)<<shift > len(sh.bytes) {
		sh.refill(shift, n)
	}
	sh.limit = max(sh.table.core.filling.limit(sh.shift, sh.n, mean), sh.count)
}

// refill moves all records into at least so many buckets.
func (sh *shard) refill(shift uint8, n uint32) {
	for {
		bytes := slices.Grow([]byte(nil), int(n)<<shift)
		bytes = bytes[:cap(bytes)>>shift<<shift] // all that the allocator gives, and it is zero
		fresh := buckets{bytes: bytes, shift: shift, n: uint32(len(bytes) >> shift), count: sh.count}
		if sh.moveTo(&fresh) {
			sh.buckets = fresh
			return
		}
		n += n/4 + 1
	}
}

func (sh *shard) moveTo(fresh *buckets) bool {
	for i := range sh.n {
		b := sh.bucket(i)
		for u, end := bucketHead, b.end(); u < end; {
			r := b.record(u)
			units := r.units()
			p, _ := fresh.add(sh.hashOf(r), units)
			if p == none {
				return false
			}
			copy(fresh.at(p), r[:units*unit])
			u += units
		}
	}
	return true
}

// reset drops all records.
func (sh *shard) reset() {
	sh.buckets, sh.beside, sh.hand = buckets{}, nil, 0
}

// compact gives memory back after a flood: where there are no records, or twice the
// buckets that those that are there need.
func (sh *shard) compact() {
	if sh.count == 0 {
		sh.reset()
		return
	}
	mean := meanOf(sh.count, sh.used)
	if shift, n := sh.table.core.filling.size(sh.count, mean); sh.n > 2 && len(sh.bytes) >= 2*int(n)<<shift {
		sh.refill(shift, n)
		sh.limit = max(sh.table.core.filling.limit(sh.shift, sh.n, mean), sh.count)
	}
}
