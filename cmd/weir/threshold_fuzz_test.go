package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/report"
)

// FuzzThreshold: any text is a comparison that reads the same when it is printed, or an error of one line.
func FuzzThreshold(f *testing.F) {
	for _, s := range []string{"max_in_window>10", "max_in_window >= 0.5", "max_in_window==1e309", "max_in_window!=NaN", "a=b", "<", "", "max_in_window<0x1p-2", "p99<1_0"} {
		f.Add(s)
	}
	metrics := report.Metrics()
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseThreshold(s, metrics)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "weir: --fail-if"), err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		again, err := parseThreshold(got.String(), metrics)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
