package oracle

import (
	"math"
	"math/big"
)

func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// floor returns the largest whole number that is not above x, which is not negative.
func floor(x *big.Rat) int64 { return saturate(new(big.Int).Quo(x.Num(), x.Denom())) }

// ceil returns the smallest whole number that is not below x, which is not negative.
func ceil(x *big.Rat) int64 {
	n := new(big.Int).Add(x.Num(), x.Denom())
	n.Sub(n, big.NewInt(1))
	return saturate(n.Quo(n, x.Denom()))
}

// saturate cuts what does not fit: a billion places that come back one in ten years take 10^23 microseconds.
func saturate(n *big.Int) int64 {
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}
