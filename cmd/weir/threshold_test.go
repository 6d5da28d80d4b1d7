package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
)

func TestThreshold(t *testing.T) {
	for s, holds := range map[string]bool{
		"m>10": false, "m > 9.5": true, "m<10": false, "m<11": true, "m>=10": true, "m>=11": false,
		"m<=10": true, "m<=9": false, "m==10": true, "m==9": false, "m!=10": false, "m!=-1e3": true,
	} {
		th, err := parseThreshold(s, []string{"m"})
		require.NoError(t, err, s)
		require.Equal(t, holds, th.holds(10), s)
		again, err := parseThreshold(th.String(), []string{"m"})
		require.NoError(t, err, s)
		require.Equal(t, th, again)
	}
}

func TestThresholdErrors(t *testing.T) {
	for s, want := range map[string]string{
		"": "--fail-if: ", "m": "--fail-if: ", ">1": "metric: ", "n>1": `metric: "n"`, "m>": "number: ",
		"m>x": "number: ", "m>NaN": "number: ", "m>inf": "number: ", "m=1": "--fail-if: ", "m>>1": "number: ",
	} {
		_, err := parseThreshold(s, []string{"m"})
		var field *weir.FieldError
		require.ErrorAs(t, err, &field, s)
		require.ErrorContains(t, err, want, s)
	}
}
