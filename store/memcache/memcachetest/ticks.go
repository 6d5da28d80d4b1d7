package memcachetest

import (
	"math"
	"time"
)

const (
	// firstTick is the tick at which a server starts, as in memcached, so that tick 0 lies in the past.
	firstTick = 2

	// longestRelative is the longest expiry, in seconds, that counts from now. A larger one is a Unix time.
	longestRelative = 60 * 60 * 24 * 30

	never  = math.MaxInt64
	atOnce = math.MinInt64
)

// ticks turns the clock into the whole seconds in which memcached keeps time.
type ticks struct {
	now   func() time.Time
	start time.Time
}

func (t ticks) tick() int64 {
	// Sub rather than Unix: it follows the monotonic clock where there is one.
	since := t.now().Sub(t.start) + time.Duration(t.start.Nanosecond())
	seconds := int64(since / time.Second)
	if since%time.Second < 0 {
		seconds--
	}
	return firstTick + seconds
}

// zero is the Unix time of tick 0.
func (t ticks) zero() int64 { return t.start.Unix() - firstTick }

// expiry is the tick from which an item with this exptime is gone.
func (t ticks) expiry(exptime int32) int64 {
	switch {
	case exptime == 0:
		return never
	case exptime < 0:
		return atOnce
	case exptime > longestRelative:
		return int64(exptime) - t.zero()
	default:
		return t.tick() + int64(exptime)
	}
}
