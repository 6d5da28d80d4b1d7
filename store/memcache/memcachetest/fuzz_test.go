package memcachetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzSession feeds raw bytes to a session, in pieces. It must end when they end, answer in whole lines, and leave the engine sound.
func FuzzSession(f *testing.F) {
	for _, steps := range cases() {
		if all := strings.Join(steps, ""); len(all) < 10_000 {
			f.Add([]byte(all), uint16(7))
			f.Add([]byte(all), uint16(5000))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		clock := NewClock(time.Unix(1_800_000_000, 0))
		e := newTestEngine(t, &Options{Now: clock.Now, MaxItemSize: 1024, MaxBytes: 4096, MaxItems: 20})
		var pieces dialogue
		for size := int(piece) + 1; len(data) > 0; {
			size = min(size, len(data))
			pieces = append(pieces, string(data[:size]))
			data = data[size:]
		}
		answers, _ := speak(e, pieces)
		if all := strings.Join(answers, ""); all != "" {
			require.True(t, strings.HasSuffix(all, "\r\n"), "the answers end in the middle of a line: %q", all)
		}
		requireSound(t, e)
		clock.Advance(time.Second) // past any flush of this second
		answers, hungUp := speak(e, dialogue{"flush_all\r\nset a 0 0 2\r\n41\r\nincr a 1\r\nget a\r\n"})
		require.False(t, hungUp)
		require.Equal(t, []string{"OK\r\nSTORED\r\n42\r\nVALUE a 0 2\r\n42\r\nEND\r\n"}, answers)
		requireSound(t, e)
	})
}

// requireSound requires that what the engine counts is what it holds, within its bounds.
func requireSound(t *testing.T, e *engine) {
	t.Helper()
	bytes, count := 0, 0
	for elem := e.recent.Front(); elem != nil; elem = elem.Next() {
		it := elem.Value.(*item)
		require.Same(t, elem, e.items[it.key])
		require.LessOrEqual(t, it.size(), e.opts.MaxItemSize)
		bytes += it.size()
		count++
	}
	require.Len(t, e.items, count)
	require.Equal(t, bytes, e.bytes)
	require.LessOrEqual(t, bytes, e.opts.MaxBytes)
	require.LessOrEqual(t, count, e.opts.MaxItems)
}
