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
