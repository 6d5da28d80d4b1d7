package weir_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
)

// FuzzParseLimits: any text is a list of valid limits that reads the same when it is printed, or an error
// of one line that names the field.
func FuzzParseLimits(f *testing.F) {
	for _, s := range []string{
		"10/1s", "100/min", "5/500ms", "1000/30d", "60/1m30s", "100/1m+5/1s", " 1/us", "1/3650d", "9223372036854775808/1s",
		"1/9223372036854775807d", "1/1e3s", "+5/1s", "-1/h", "0/1s", "1/-1s", "1/", "/", "+", "1/1.0000005s", "１/1s", "1/1ms\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		limits, err := weir.ParseLimits(s)
		if err != nil {
			var field *weir.FieldError
			require.ErrorAs(t, err, &field)
			require.True(t, strings.HasPrefix(err.Error(), "weir: limit"), err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		var printed []string
		for _, l := range limits {
			require.NoError(t, l.Validate())
			printed = append(printed, l.String())
		}
		again, err := weir.ParseLimits(strings.Join(printed, "+"))
		require.NoError(t, err)
		require.Equal(t, limits, again)
	})
}
