package weir

import (
	"math"
	"time"
)

// Never is the RetryAfter of a request that can never be admitted: its cost is above
// the capacity.
const Never time.Duration = math.MaxInt64

// Decision is the answer to one request.
type Decision struct {
	// Allowed tells whether the request was admitted, and so counted.
	Allowed bool
	// Limit is the capacity: the most that one instant admits from idle.
	Limit int64
	// Remaining is the largest cost that would be admitted now, after this decision:
	// 0 to Limit.
	Remaining int64
	// RetryAfter is when the same request would be admitted if nothing else came: 0
	// where allowed, above 0 where denied, [Never] where it cannot be. A request at
	// exactly that instant is admitted.
	RetryAfter time.Duration
	// ResetAfter is the time until the state is as if the key had never been used.
	ResetAfter time.Duration
}
