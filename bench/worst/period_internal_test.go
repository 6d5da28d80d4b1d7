package worst

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
)

// The search keeps times within one period: moved by it, requests get the same answers.
func TestAnswersRepeatWithThePeriod(t *testing.T) {
	for _, name := range []string{
		"fixed-window", "fixed-window-first-hit", "sliding-counter", "bucketed-window,buckets=3", "gcra", "gcra,burst=2", "sliding-log",
		"ring-log", "ring-log,denied=count", "packed-log", "packed-log,tick=3us", "packed-log,tick=2us,block=2",
	} {
		a, err := algorithms.Parse(name)
		require.NoError(t, err)
		rapid.Check(t, func(t *rapid.T) {
			l := weir.Limit{
				Count:  rapid.Int64Range(2, 6).Draw(t, "limit"),
				Window: time.Duration(rapid.Int64Range(5, 20).Draw(t, "window")) * time.Microsecond,
			}
			m, err := newMachine(a, l)
			require.NoError(t, err)
			by := m.period * rapid.Int64Range(1, 50).Draw(t, "periods")
			now, here, there := m.base, "", ""
			for range rapid.IntRange(1, 40).Draw(t, "requests") {
				now += rapid.Int64Range(0, l.Window.Microseconds()/2).Draw(t, "gap")
				cost := min(rapid.Int64Range(0, mostCost).Draw(t, "cost"), m.capacity)
				a, err := m.run(here, now, cost)
				require.NoError(t, err)
				if a.State != nil {
					here = string(a.State)
				}
				b, err := m.run(there, now+by, cost)
				require.NoError(t, err)
				if b.State != nil {
					there = string(b.State)
				}
				require.Equal(t, a.Reply, b.Reply, "%s %s", name, l)
				require.Equal(t, a.TTL, b.TTL)
			}
		})
	}
}
