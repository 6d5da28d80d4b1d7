package oracle

import (
	"math"
	"math/big"
	"math/bits"
)

// Report is the judgement of one limiter. "By its own history" means: by what the limiter itself had
// admitted to the same key in the window before, whatever another limiter would have done.
type Report struct {
	Events       int64 // requests, peeks included
	Allowed      int64 // requests
	Denied       int64 // requests
	AdmittedCost int64
	Keys         int   // distinct keys
	SteppedBack  int64 // requests whose time lay before the latest of their key

	// MaxInWindow is the most cost that any key was admitted in any window. MaxKey is the key that
	// reached it first, and MaxAt the end, in microseconds, of the window in which it did.
	MaxInWindow int64
	MaxKey      string
	MaxAt       int64

	OverAdmitted int64 // requests admitted although fewer places than they cost were free by its own history
	FalseDenied  int64 // requests denied although the places they cost were free by its own history
	MaxDeficit   int64 // most places free, by its own history, when a request of cost one was denied

	ExactAdmitted int64 // requests that the exact log admits, fed the same requests
	ExactCost     int64 // cost that the exact log admits

	RetryError RetryError
	CountError CountError
}

// RetryError says how far the told waits were from the truth: the time until the exact rule, given the
// limiter's own history and no other request, would admit the same request; zero where it would at once.
type RetryError struct {
	Count int64   // denials compared: the request can be admitted one day, and a wait was told
	Mean  float64 // mean absolute difference in microseconds; zero without a count
	Max   int64   // largest absolute difference in microseconds

	// Mistaken counts the denials left out because no difference exists: told never where waiting
	// helps, or told a wait where the cost is above the limit.
	Mistaken int64
}

// CountError says how far the told places left were from the truth: those free by the limiter's own
// history, none where too much was admitted, right after the decision.
type CountError struct {
	Count int64   // decisions compared: those that told
	Mean  float64 // mean absolute difference in places; zero without a count
	Max   int64   // largest absolute difference in places
}

// differences sums absolute differences in 128 bits: ten million of ten years each do not fit in 64.
type differences struct {
	count     int64
	high, low uint64
	largest   uint64
}

func (d *differences) add(told, truth int64) {
	difference := uint64(told) - uint64(truth)
	if told < truth {
		difference = -difference
	}
	var carry uint64
	d.low, carry = bits.Add64(d.low, difference, 0)
	d.high += carry
	d.largest = max(d.largest, difference)
	d.count++
}

func (d *differences) most() int64 { return int64(min(d.largest, math.MaxInt64)) }

// mean is zero where there is nothing to take it of.
func (d *differences) mean() (mean float64) {
	if d.count > 0 {
		sum := new(big.Int).SetUint64(d.high)
		sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(d.low))
		mean, _ = new(big.Rat).SetFrac(sum, big.NewInt(d.count)).Float64()
	}
	return mean
}
