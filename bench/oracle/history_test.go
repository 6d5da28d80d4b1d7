package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHistoryKeepsNoMoreThanItNeeds(t *testing.T) {
	var h history
	h.add(5, 0)
	require.Zero(t, h.count, "a peek leaves no trace")

	for range 1000 {
		h.add(5, 3)
	}
	require.Equal(t, 1, h.count, "one instant is one run")
	require.EqualValues(t, 3000, h.inWindow())

	for now := int64(6); now < 10_006; now++ {
		h.add(now, 1)
	}
	require.Equal(t, 10_001, h.count)
	h.advance(10_005, 100)
	require.Equal(t, 100, h.count)
	require.EqualValues(t, 100, h.inWindow())
	require.EqualValues(t, 9_906, h.at(0).time)
	require.LessOrEqual(t, len(h.runs), 200, "what a burst took is given back")
	h.advance(10_105, 100)
	require.Zero(t, h.inWindow())
	require.Less(t, len(h.runs), roomy)
}
