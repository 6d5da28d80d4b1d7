package memory_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// What Size says of all keys is what they take of the heap, and that is little.
func TestSizeIsHonestAtScale(t *testing.T) {
	const clients = 50_000
	for _, test := range []struct {
		algorithm string
		key       string
		compact   bool
		beyond    float64 // bytes per key, the text not counted
	}{
		{"fixed-window", "client-%d", false, 56},
		{"gcra", "client-%d", false, 56},
		{"sliding-counter", "client-%d", false, 56},
		{"gcra", "client-%d", true, 40},
		{"gcra", "0b7c2a64-5f0e-4d1b-9f3a-%012d", false, 72},
		{"bucketed-window", "client-%d", false, 90},
		{"packed-log", "client-%d", false, 90},
	} {
		t.Run(fmt.Sprintf("%s compact=%t %s", test.algorithm, test.compact, test.key), func(t *testing.T) {
			c := newClock()
			s := open(t, &memory.Options{Clock: c.Now, Compact: test.compact})
			a, err := algorithms.Parse(test.algorithm)
			require.NoError(t, err)
			l := limiter(t, s, a, "10/1h")
			before, text := heap(), 0
			for i := range clients {
				key := fmt.Sprintf(test.key, i)
				text += len(key)
				take(t, l, key, 1)
			}
			took := float64(heap() - before)
			runtime.KeepAlive(l)
			said := int64(0)
			for i := range clients {
				n, err := s.Size(ctx, l.Keys(fmt.Sprintf(test.key, i))[0])
				require.NoError(t, err)
				said += n
			}
			require.InEpsilon(t, took, float64(said), 0.15)
			require.LessOrEqual(t, (took-float64(text))/clients, test.beyond)
		})
	}
}

// After a flood memory comes back, and those who were there before are still there.
func TestAFloodIsForgottenAndTheRestIsNot(t *testing.T) {
	c := newClock()
	s := open(t, &memory.Options{Clock: c.Now})
	long := limiter(t, s, algorithms.FixedWindowFirstHit(), "5/1h")
	flood := limiter(t, s, algorithms.FixedWindowFirstHit(), "5/1s")
	empty := heap()
	for i := range 5_000 {
		take(t, long, strconv.Itoa(i), int64(1+i%5))
	}
	before := heap() - empty
	for i := range 100_000 {
		_, err := s.Add(ctx, "raw"+strconv.Itoa(i), 1, time.Second)
		require.NoError(t, err)
		take(t, flood, strconv.Itoa(i), 1)
		if i < 50_000 {
			take(t, long, "gone"+strconv.Itoa(i), 1)
			require.NoError(t, long.Reset(ctx, "gone"+strconv.Itoa(i)))
		}
	}
	c.advance(3 * time.Second)
	s.Sweep()
	require.Equal(t, 5_000, s.Keys())
	require.Less(t, heap()-empty, 2*before+200_000)
	for i := range 5_000 {
		require.EqualValues(t, 4-i%5, take(t, long, strconv.Itoa(i), 0).Remaining)
	}
}
