package memcachetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// expiryPhases and flushPhases are spoken with a pause between them. Wherever the tick falls, what is asked for is certain.
const pause = 1600 * time.Millisecond

func expiryPhases() [3]dialogue {
	return [3]dialogue{
		{
			"set one 0 1 1\r\n1\r\nset counted 0 1 1\r\n1\r\nset touched 0 1 1\r\n1\r\nset got 0 1 1\r\n1\r\nset kept 5 100 1\r\n1\r\nset three 0 3 1\r\n1\r\nset cut 0 100 1\r\n1\r\n",
			"set grown 0 1 1\r\n9\r\nset joined 0 1 1\r\n9\r\nset added 0 1 1\r\n9\r\nset swapped 0 1 1\r\n9\r\nset gone 0 1 1\r\n9\r\n",
			"touch touched 100\r\ngat 100 got\r\ntouch cut 1\r\n",
		},
		{
			"get one counted grown joined\r\nget touched got kept three cut\r\n",
			"add added 0 0 1\r\n2\r\ncas swapped 0 0 1 1\r\n2\r\ntouch gone 100\r\ndelete gone\r\nincr gone 1\r\nappend gone 0 0 1\r\nx\r\nreplace gone 0 0 1\r\nx\r\n",
			"incr three 10\r\nappend three 0 100 1\r\n0\r\n", // both keep the expiry
		},
		{"get three\r\nget touched got kept added\r\nincr kept 1\r\nget kept\r\n"},
	}
}

func flushPhases() [3]dialogue {
	return [3]dialogue{
		{"set a 0 0 1\r\n1\r\nset b 0 100 1\r\n1\r\nflush_all 3\r\nget a b\r\n"},
		{"set c 0 0 1\r\n1\r\n"},
		{"get a b c\r\nset d 0 0 1\r\n1\r\nget d\r\n"},
	}
}

// TestExpirySameAsMemcached waits on the real server and moves the clock of this one.
func TestExpirySameAsMemcached(t *testing.T) {
	expiryAddr, flushAddr := startReal(t), startReal(t)
	clock := NewClock(time.Unix(1_800_000_000, 0))
	expiry, flush := newTestEngine(t, &Options{Now: clock.Now}), newTestEngine(t, &Options{Now: clock.Now})
	for i := range 3 {
		if i > 0 {
			time.Sleep(pause)
			clock.Advance(pause)
		}
		answers, hungUp := speak(expiry, expiryPhases()[i])
		requireSame(t, expiryAddr, expiryPhases()[i], answers, hungUp)
		answers, hungUp = speak(flush, flushPhases()[i])
		requireSame(t, flushAddr, flushPhases()[i], answers, hungUp)
	}
}

func TestExpiry(t *testing.T) {
	for _, fraction := range []time.Duration{0, time.Nanosecond, 500 * time.Millisecond, time.Second - 1} {
		t.Run(fmt.Sprint("stored ", fraction, " after a tick"), func(t *testing.T) {
			start := time.Unix(1_800_000_000, 0)
			clock := NewClock(start.Add(300 * time.Millisecond))
			e := newTestEngine(t, &Options{Now: clock.Now})
			alive := func() bool {
				answers, _ := speak(e, dialogue{"get a\r\n"})
				return answers[0] != "END\r\n"
			}
			store := func(exptime int64) {
				answers, _ := speak(e, dialogue{fmt.Sprintf("set a 0 %d 1\r\nx\r\n", exptime)})
				require.Equal(t, "STORED\r\n", answers[0])
			}

			// The last is before the server's start, where a clock that steps back can lead.
			for _, tick := range []time.Time{start.Add(time.Second), start.Add(7 * time.Second), start.Add(-7 * time.Second)} {
				for _, seconds := range []int64{1, 2, 60, longestRelative} {
					clock.Set(tick.Add(fraction))
					store(seconds)
					dies := tick.Add(time.Duration(seconds) * time.Second)
					clock.Set(dies.Add(-1))
					require.True(t, alive(), "a relative expiry of %d s was up too early", seconds)
					clock.Set(dies)
					require.False(t, alive(), "a relative expiry of %d s was not up in time", seconds)
				}
			}

			clock.Set(start.Add(fraction))
			store(start.Unix() + 100)
			clock.Set(start.Add(100*time.Second - 1))
			require.True(t, alive(), "an absolute expiry was up too early")
			clock.Set(start.Add(100 * time.Second))
			require.False(t, alive(), "an absolute expiry was not up in time")

			store(0)
			clock.Advance(100 * 365 * 24 * time.Hour)
			require.True(t, alive(), "what has no expiry expired")
		})
	}
}

// An item must be dead, not immortal, whatever the clock shows when it is stored in the past.
func TestExpiredAtOnce(t *testing.T) {
	for _, now := range []time.Time{{}, time.Unix(0, 0), time.Unix(-5, 1), time.Unix(1_800_000_000, 0), time.Unix(1<<40, 0)} {
		clock := NewClock(now)
		e := newTestEngine(t, &Options{Now: clock.Now})
		clock.Advance(-1000 * time.Hour)
		answers, _ := speak(e, dialogue{"set a 0 -1 1\r\nx\r\nget a\r\nset a 0 0 1\r\nx\r\ntouch a -2147483648\r\nget a\r\n"})
		require.Equal(t, "STORED\r\nEND\r\nSTORED\r\nTOUCHED\r\nEND\r\n", answers[0], "at %v", now)
	}
}

func TestFlush(t *testing.T) {
	clock := NewClock(time.Unix(1_800_000_000, 0))
	e := newTestEngine(t, &Options{Now: clock.Now})
	say := func(line, want string) {
		t.Helper()
		answers, _ := speak(e, dialogue{line})
		require.Equal(t, want, answers[0], "%q", line)
	}
	const hit, miss = "VALUE a 0 1\r\nx\r\nEND\r\n", "END\r\n"
	set := func() { say("set a 0 0 1\r\nx\r\n", "STORED\r\n") }

	set()
	say("flush_all\r\n", "OK\r\n")
	say("get a\r\n", miss)
	set()
	say("get a\r\n", hit)

	// A delay of N seconds is up at the tick before the last, and takes with it what is stored in that tick.
	say("flush_all 10\r\n", "OK\r\n")
	clock.Advance(9*time.Second - 1)
	say("get a\r\n", hit)
	clock.Advance(1)
	say("get a\r\n", miss)
	set()
	say("get a\r\n", miss)
	clock.Advance(time.Second)
	set()
	say("get a\r\n", hit)

	say(fmt.Sprintf("flush_all %d\r\n", clock.Now().Unix()+5), "OK\r\n")
	clock.Advance(3 * time.Second)
	say("get a\r\n", hit)
	clock.Advance(time.Second)
	say("get a\r\n", miss)
}
