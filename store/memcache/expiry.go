package memcache

import (
	"fmt"
	"math"
	"time"
)

const (
	// longestRelative is the largest exptime, in seconds, that counts from now; a
	// larger one is a Unix time.
	longestRelative = 30 * 24 * 60 * 60

	// lastExpiry is the last Unix time that fits into an exptime: 2038-01-19T03:14:07Z.
	lastExpiry = math.MaxInt32

	// headroom keeps the longest TTL true for a process that has run for so long.
	headroom = 30 * 24 * time.Hour
)

// exptime converts a TTL, which is positive, to what memcached is told. A relative
// exptime of E seconds lives between E-1 and E, because the server counts ticks, and a
// server's Unix time may be a second ahead of ours: hence one second more.
func exptime(ttl time.Duration, now time.Time) (int32, error) {
	if relative := ceilSeconds(ttl) + 1; relative <= longestRelative {
		return int32(relative), nil
	}
	end := now.Add(ttl)
	at := end.Unix() + 1
	if end.Nanosecond() > 0 {
		at++
	}
	if at > lastExpiry {
		return 0, fmt.Errorf("ttl %v ends after %s, the last time that memcached can hold",
			ttl, time.Unix(lastExpiry, 0).UTC().Format(time.RFC3339))
	}
	return int32(at), nil
}

// longestTTL is the longest TTL for a store made now.
func longestTTL(now time.Time) time.Duration {
	absolute := time.Unix(lastExpiry-2, 0).Sub(now) - headroom
	return max(absolute.Truncate(time.Second), (longestRelative-1)*time.Second)
}

func ceilSeconds(d time.Duration) int64 {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return seconds
}
