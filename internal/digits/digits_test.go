package digits_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/digits"
)

func TestGroup(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12_345: "12,345", 100_000: "100,000", 1_234_567: "1,234,567",
		-1: "-1", -999: "-999", -1000: "-1,000", -123_456: "-123,456",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		require.Equal(t, want, digits.Group(n))
	}
}

func TestWords(t *testing.T) {
	require.Equal(t, "1 client", digits.Plural(1, "client"))
	require.Equal(t, "0 clients", digits.Plural(0, "client"))
	require.Equal(t, "1,200 clients", digits.Plural(int64(1200), "client"))
	for v, want := range map[float64]string{0: "0", 0.26: "0.3", 2: "2", 9.95: "10", 12.5: "13", 1234.5: "1,235"} {
		require.Equal(t, want, digits.Short(v))
	}
	for part, want := range map[float64]string{0: "0 %", 0.0000083: "0.00083 %", 0.0083: "0.83 %", 0.05: "5 %", 0.125: "13 %", 12: "1,200 %"} {
		require.Equal(t, want, digits.Percent(part))
	}
}
