package algorithms

// Unsigned integers of variable length: seven bits a byte, the lowest first, the
// eighth set where more follow.

// maxVarint is the longest varint of a number below 2^53.
const maxVarint = 8

func varintLen(v int64) int {
	n := 1
	for v >= 128 {
		v >>= 7
		n++
	}
	return n
}

func appendVarint(b []byte, v int64) []byte {
	for v >= 128 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// varint reads the number at i and returns it and the index behind it, which is 0
// where there is none or it is 2^53 or more.
func varint(b []byte, i int) (v int64, next int) {
	for shift := 0; i < len(b) && shift < 7*maxVarint; shift += 7 {
		c := b[i]
		i++
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if v > maxTime {
				return 0, 0
			}
			return v, i
		}
	}
	return 0, 0
}
