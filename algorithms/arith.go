package algorithms

import (
	_ "embed"
	"math"
	"math/bits"
)

// The Lua twins count exactly below 2^53 only, so they split their products; here
// 128 bits do.

//go:embed lua/arith.lua
var luaArith string

// mulAddDiv returns the quotient and the remainder of (a*b + c) / d. A quotient that
// does not fit becomes the largest integer.
func mulAddDiv(a, b, c, d int64) (q, r int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c), 0)
	hi += carry
	if hi >= uint64(d) {
		return math.MaxInt64, 0
	}
	uq, ur := bits.Div64(hi, lo, uint64(d))
	if uq > math.MaxInt64 {
		return math.MaxInt64, 0
	}
	return int64(uq), int64(ur)
}
