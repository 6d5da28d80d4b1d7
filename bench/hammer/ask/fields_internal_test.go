package ask

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadsRemaining(t *testing.T) {
	for _, c := range []struct {
		header, value string
		want          int64
	}{
		{"RateLimit", `"api";r=9;t=1`, 9},
		{"RateLimit", `"a";r=9;t=1, "b";r=3;t=60`, 3},
		{"RateLimit", "limit=10, remaining=4, reset=1", 4},
		{"RateLimit-Remaining", "7", 7},
		{"X-RateLimit-Remaining", " 0 ", 0},
		{"X-RateLimit-Remaining", "-1", untold},
		{"RateLimit", "nothing", untold},
		{"X-Other", "5", untold},
	} {
		h := http.Header{}
		h.Set(c.header, c.value)
		n, field := remaining(h)
		require.Equal(t, c.want, n, c.value)
		require.Equal(t, n != untold, field == c.header, c.value)
	}
}

func TestReadsRetryAfter(t *testing.T) {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]int64{
		"":                              untold,
		"soon":                          untold,
		"-1":                            untold,
		"NaN":                           untold,
		"0":                             0,
		"2":                             2_000_000,
		"Wed, 01 May 2024 12:00:03 GMT": 3_000_000,
		"Wed, 01 May 2024 11:00:00 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(http.Header{"Retry-After": {value}}, now), value)
	}
}

// Only what surely fell into one window counts.
func TestMostInAWindow(t *testing.T) {
	at := func(lo, hi int64) answer { return answer{at: span{lo, hi}, outcome: allowed} }
	require.EqualValues(t, 2, most([]answer{at(0, 10), at(50, 99), at(60, 100)}, 100))
	require.EqualValues(t, 3, most([]answer{at(1, 10), at(50, 99), at(60, 100)}, 100))
	require.Zero(t, most([]answer{{at: span{0, 1}, outcome: denied}}, 100))
	require.Zero(t, most([]answer{at(0, 100)}, 100), "an answer that takes longer than a window says nothing")
}

// A history ends where it is not known what counted.
func TestHistoryEndsAtAFailure(t *testing.T) {
	h := newHistory([]answer{
		{at: span{20, 30}, outcome: denied},
		{at: span{0, 5}, outcome: allowed},
		{at: span{3, 9}, outcome: allowed},
		{at: span{40, 50}, outcome: allowed},
		{at: span{45, 60}, outcome: failed},
		{at: span{70, 80}, outcome: allowed},
	}, 1)
	require.Equal(t, history{{at: span{-1, 10}, allowed: 2}, {at: span{19, 31}, denied: 1}}, h)
}
