package memory

import "unsafe"

// beside keeps what does not fit into a shard's records, by number.
type beside struct {
	all  []*extension
	free []uint32
}

// extension is the rest of one record: its text where that is long, and a long value or
// a collection.
type extension struct {
	kind  kind
	key   string // empty where the text lies in the record
	value []byte
	list  []string // oldest first
	set   *sortedSet
}

func (b *beside) add(x *extension) uint32 {
	if n := len(b.free); n > 0 {
		i := b.free[n-1]
		b.free = b.free[:n-1]
		b.all[i] = x
		return i
	}
	b.all = append(b.all, x)
	return uint32(len(b.all) - 1)
}

func (b *beside) remove(i uint32) {
	b.all[i] = nil
	b.free = append(b.free, i)
}

func (x *extension) bytes() int64 {
	n := int64(unsafe.Sizeof(*x)) + int64(unsafe.Sizeof(x)) + int64(len(x.key)) + int64(cap(x.value))
	n += int64(cap(x.list)) * int64(unsafe.Sizeof(""))
	for _, s := range x.list {
		n += int64(len(s))
	}
	if x.set != nil {
		n += x.set.bytes()
	}
	return n
}
