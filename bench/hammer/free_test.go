package hammer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
)

func TestPlaceFreed(t *testing.T) {
	hour := time.Unix(1_800_000_000, 0).Truncate(time.Hour) // windows of an hour begin here
	for name, c := range map[string]struct {
		algorithm string
		from, to  time.Duration // after the hour
		want      bool
	}{
		"aligned, within":                     {"fixed-window", time.Minute, time.Hour - time.Microsecond, false},
		"aligned, across":                     {"fixed-window", time.Hour - time.Microsecond, time.Hour, true},
		"from the first request, within":      {"fixed-window-first-hit", time.Minute, time.Hour, false},
		"from the first request, after":       {"fixed-window-first-hit", time.Minute, time.Hour + time.Minute, true},
		"weighted, across by too little":      {"sliding-counter", time.Minute, time.Hour + 6*time.Minute - time.Microsecond, false},
		"weighted, across by a place":         {"sliding-counter", time.Minute, time.Hour + 6*time.Minute, true},
		"refilled, before a token":            {"gcra", time.Minute, 7*time.Minute - time.Microsecond, false},
		"refilled, after a token":             {"gcra", time.Minute, 7 * time.Minute, true},
		"log, before the oldest leaves":       {"sliding-log", time.Minute, time.Hour + time.Minute - time.Microsecond, false},
		"log, after the oldest left":          {"sliding-log", time.Minute, time.Hour + time.Minute, true},
		"ring that counts denied, within":     {"ring-log,denied=count", time.Minute, time.Hour, false},
		"a racy one, by its own rule, within": {"sliding-log-racy", time.Minute, time.Hour, false},
		"a racy one, by its own rule, after":  {"memory-naive", time.Minute, 2 * time.Hour, true},
		"a clock that was set back":           {"gcra", time.Minute, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ParseAlgorithm(c.algorithm)
			require.NoError(t, err)
			freed, err := placeFreed(a, weir.Limit{Count: 10, Window: time.Hour}, hour.Add(c.from), hour.Add(c.to))
			require.NoError(t, err)
			require.Equal(t, c.want, freed)
		})
	}
}

func TestPlaceFreedUnderALargeLimit(t *testing.T) {
	a, err := ParseAlgorithm("sliding-log") // takes at most 1,000 at once
	require.NoError(t, err)
	from := time.Unix(1_800_000_000, 0)
	freed, err := placeFreed(a, weir.Limit{Count: 2500, Window: time.Hour}, from, from.Add(time.Minute))
	require.NoError(t, err)
	require.False(t, freed)
}
