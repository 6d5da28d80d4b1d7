package insight_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/trace"
)

// hour is an hour of 1 January 1970, UTC, in microseconds.
const hour = int64(time.Hour / time.Microsecond)

func TestLedger(t *testing.T) {
	events := []trace.Event{
		{Time: 13*hour + 10e6, Key: "a"}, // denied for 30 s
		{Time: 13*hour + 20e6, Key: "b"}, // admitted
		{Time: 13*hour + 30e6, Key: "a"}, // denied for 15 s: locked out 35 s together
		{Time: 13*hour + 40e6, Key: "a"}, // denied for 5 s: the same end
		{Time: 14*hour + 5e6, Key: "a"},  // denied for 1 min
		{Time: 14*hour + 10e6, Key: "c"}, // can never be
		{Time: 14*hour + 65e6, Key: "a"}, // denied for 10 s where the minute ends: 70 s
		{Time: 37 * hour, Key: "a"},      // the next day: denied for 1 s
	}
	l := insight.NewLedger(insight.NewSpan(events))
	require.Equal(t, insight.Denials{OverTime: make([]int64, 49)}, l.Denials())
	for i, wait := range []time.Duration{30 * time.Second, 0, 15 * time.Second, 5 * time.Second, time.Minute, weir.Never, 10 * time.Second, time.Second} {
		l.Observe(events[i], weir.Decision{Allowed: wait == 0, RetryAfter: wait})
	}
	d := l.Denials()
	require.Equal(t, 2, d.Clients)
	require.InDelta(t, 2./3, d.ClientsShare, 1e-12)
	require.InDelta(t, 7./8, d.RequestShare, 1e-12)
	require.EqualValues(t, 1, d.Never)
	require.EqualValues(t, 106e6, d.LockedOutUS)
	require.EqualValues(t, 70e6, d.LongestUS)
	require.Equal(t, [24]int64{13: 4, 14: 3}, d.Hours)
	require.Len(t, d.OverTime, 49, "half hours from 13:00 to 13:00 the next day")
	require.EqualValues(t, 3, d.OverTime[0])
	require.EqualValues(t, 3, d.OverTime[2])
	require.EqualValues(t, 1, d.OverTime[48])
	require.Equal(t, []insight.Client{
		{
			Key: "a", Requests: 6, Denied: 6, FirstDeniedUS: 13*hour + 10e6, LastDeniedUS: 37 * hour, LockedOutUS: 106e6, LongestUS: 70e6,
		},
		{Key: "c", Requests: 1, Denied: 1, FirstDeniedUS: 14*hour + 10e6, LastDeniedUS: 14*hour + 10e6},
	}, l.MostDenied(10))
	require.Len(t, l.MostDenied(1), 1)
	require.Empty(t, l.MostDenied(-1))
}

func TestSpan(t *testing.T) {
	require.Equal(t, insight.Span{}, insight.NewSpan(nil))
	require.Equal(t, insight.Span{StartUS: 7e6, StepUS: 1e6, Requests: []int64{2}, Hours: [24]int64{2}},
		insight.NewSpan([]trace.Event{{Time: 7_100_000}, {Time: 7_900_000}}))
	for last, want := range map[time.Duration]time.Duration{
		59 * time.Second: time.Second, time.Minute: 2 * time.Second, 24 * time.Hour: 30 * time.Minute,
		60 * 24 * time.Hour: 7 * 24 * time.Hour, 3650 * 24 * time.Hour: 63 * 24 * time.Hour,
	} {
		s := insight.NewSpan([]trace.Event{{Time: 0}, {Time: last.Microseconds()}})
		require.Equal(t, want.Microseconds(), s.StepUS, "%v", last)
		require.LessOrEqual(t, len(s.Requests), 60)
		require.EqualValues(t, 1, s.Requests[len(s.Requests)-1])
	}
}
