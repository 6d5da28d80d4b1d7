package store

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The errors on which callers branch. Stores wrap them, and the errors of their
// clients, with what they were doing.
var (
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store: closed")
	// ErrOverflow: an addition would pass the largest count; nothing was changed.
	ErrOverflow = errors.New("store: counter would overflow")
	// ErrCorrupt: a key holds something that the step did not write. It was left as it is.
	ErrCorrupt = errors.New("store: unrecognised state")
	// ErrGarbled: the backend answered what no step can have answered.
	ErrGarbled = errors.New("store: garbled reply")
	// ErrContended: a compare-and-swap lost too often. Nothing was changed.
	ErrContended = errors.New("store: too much contention")
	// ErrFull: the store has no room and frees nothing that is in use.
	ErrFull = errors.New("store: full")
)

// CheckTTL returns an error that names the TTL where it is not positive or is above max.
func CheckTTL(ttl, max time.Duration) error {
	if ttl <= 0 || ttl > max {
		return fmt.Errorf("store: ttl %v: want above 0 and at most %v", ttl, max)
	}
	return nil
}

// TTL converts a step's microseconds to a duration. A value too large for one
// becomes the longest duration.
func TTL(us int64) time.Duration {
	if us > math.MaxInt64/int64(time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(us) * time.Microsecond
}
