package memory

import "math/bits"

// An index maps hashes to places: buckets of one cache line, in which eight bits of the
// hash, the tag, tell which of 12 places may be the key's. A key whose bucket is full goes
// to the next; each full bucket that it passed counts it, so a search knows where to
// stop, and removing it leaves no trace. After F14, Bronson and Shi, 2019.
type index []bucket

const (
	bucketSlots = 12
	bucketFull  = 10 // keys per bucket, on the mean, at which an index grows
	bucketBytes = 64
)

// bucket holds tags 0 to 7 in low and 8 to 11 in the lower half of high; a free slot's is
// zero. The upper half of high is how many keys passed by.
type bucket struct {
	low, high uint64
	places    [bucketSlots]place
}

const (
	everyByte = 0x0101010101010101
	highTags  = 0x80808080
	passed    = 1 << 32
)

// Of a hash the lowest bits choose the shard, the next eight are the tag, and the upper
// half chooses the bucket.

func tagOf(hash uint64) uint64 { return max(hash>>shardBits&0xff, 1) }

func (x index) home(hash uint64) int { return int((hash >> 32) * uint64(len(x)) >> 32) }

func (x index) after(i int) int {
	if i++; i < len(x) {
		return i
	}
	return 0
}

// zeroBytes has the upper bit set of each byte of x that is zero.
func zeroBytes(x uint64) uint64 {
	const low = 0x7f * everyByte
	return ^((x&low + low) | x | low)
}

// slots tells which slots hold the tag: bit 8n+7 of the first for slot n, and of the
// second for slot n+8.
func (b *bucket) slots(tag uint64) (low, high uint64) {
	tag *= everyByte
	return zeroBytes(b.low ^ tag), zeroBytes(b.high^tag) & highTags
}

func (b *bucket) set(slot int, tag uint64, p place) {
	b.places[slot] = p
	if slot < 8 {
		shift := 8 * slot
		b.low = b.low&^(0xff<<shift) | tag<<shift
		return
	}
	shift := 8 * (slot - 8)
	b.high = b.high&^(0xff<<shift) | tag<<shift
}

// add enters a place; there must be a free slot.
func (x index) add(hash uint64, p place) {
	for i := x.home(hash); ; i = x.after(i) {
		b := &x[i]
		low, high := b.slots(0)
		switch {
		case low != 0:
			b.set(bits.TrailingZeros64(low)/8, tagOf(hash), p)
			return
		case high != 0:
			b.set(8+bits.TrailingZeros64(high)/8, tagOf(hash), p)
			return
		}
		b.high += passed
	}
}

// slot finds where the place of a key with this hash is entered.
func (x index) slot(hash uint64, p place) (i, slot int) {
	for i = x.home(hash); ; i = x.after(i) {
		for slot, q := range x[i].places {
			if q == p {
				return i, slot
			}
		}
	}
}

func (x index) remove(hash uint64, p place) {
	last, slot := x.slot(hash, p)
	for i := x.home(hash); i != last; i = x.after(i) {
		x[i].high -= passed
	}
	x[last].set(slot, 0, none)
}

func (x index) replace(hash uint64, p, q place) {
	i, slot := x.slot(hash, p)
	x[i].places[slot] = q
}

// indexFor returns an empty index that takes n keys before it is full, of the sizes that
// growing by half gives.
func indexFor(n int) index {
	buckets := 1
	for buckets*bucketFull < n {
		buckets += (buckets + 1) / 2
	}
	return make(index, buckets)
}
