package algorithms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
)

// FuzzParse: any text is an algorithm that reads the same when it is printed, or an error of one line that
// names the field; and under any limit it either works or says which field does not fit.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"gcra", "token-bucket,burst=20", "gcra,burst=0", "gcra,burst=+5,burst=5", "ring-log,denied=count", "ring-log,denied=",
		"packed-log,tick=1ms,block=10", "packed-log,error=12.5%", "packed-log,error=NaN%", "packed-log,error=1e-300%", "packed-log,tick=1e9h",
		"bucketed-window,buckets=1000", "bucketed-window,buckets=007", "sliding-log,", "fixed-window,=", ",", "gcra,burst=9223372036854775808",
	} {
		f.Add(s, int64(10), int64(1_000_000))
		f.Add(s, int64(weir.MaxCount), weir.MaxWindow.Microseconds())
	}
	f.Fuzz(func(t *testing.T, s string, count, window int64) {
		oneLine := func(err error) {
			var field *weir.FieldError
			require.ErrorAs(t, err, &field)
			require.True(t, strings.HasPrefix(err.Error(), "weir: "), err)
			require.NotContains(t, err.Error(), "\n")
		}
		a, err := algorithms.Parse(s)
		if err != nil {
			oneLine(err)
			return
		}
		again, err := algorithms.Parse(a.String())
		require.NoError(t, err, "%q became %q", s, a)
		require.Equal(t, a, again)
		l := saneLimit(count, window)
		shape, err := a.Shape(l)
		if err != nil {
			oneLine(err)
			return
		}
		require.Positive(t, shape.Capacity)
		require.Positive(t, shape.MaxTTL)
		require.GreaterOrEqual(t, shape.Guarantee.MaxInWindow, int64(1))
		require.GreaterOrEqual(t, shape.Guarantee.Deficit, int64(0))
	})
}
