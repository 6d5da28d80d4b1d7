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
	// Degraded tells that the store could not answer, so that what is set for this case
	// decided in its place: see [FailOpen] and [FallBack]. Where nothing counted, Limit,
	// Remaining and ResetAfter are zero.
	Degraded bool

	note *note // what is unusual, or nil
}

// note is what [Undo] and observers must know of an unusual decision.
type note struct {
	cause error   // why it is degraded
	taker Limiter // which limiter took the cost; nil: none did
}

// Cause returns why the decision is degraded: the store's error, or nil.
func (d Decision) Cause() error {
	if d.note == nil {
		return nil
	}
	return d.note.cause
}
