package memcache

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestExptimeNeverWraps(t *testing.T) {
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	last := time.Unix(math.MaxInt32, 0).Sub(now)

	at, err := exptime(last-time.Second, now)
	require.NoError(t, err)
	require.Equal(t, int32(math.MaxInt32), at)
	for _, ttl := range []time.Duration{last - time.Second + 1, last, 100 * 365 * 24 * time.Hour, math.MaxInt64} {
		_, err = exptime(ttl, now)
		require.ErrorContains(t, err, "ends after 2038-01-19T03:14:07Z")
	}
}

func TestLongestTTL(t *testing.T) {
	for _, now := range []time.Time{
		time.Date(2026, 7, 1, 0, 0, 0, 999, time.UTC),
		time.Date(2037, 11, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2038, 1, 19, 0, 0, 0, 0, time.UTC),
		time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		ttl := longestTTL(now)
		require.GreaterOrEqual(t, ttl, (longestRelative-1)*time.Second, "relative times outlive 2038")
		for _, later := range []time.Duration{0, 1, time.Hour, headroom} {
			at, err := exptime(ttl, now.Add(later))
			require.NoError(t, err, "%v and a process of %v", now, later)
			require.Positive(t, at)
		}
	}
}
