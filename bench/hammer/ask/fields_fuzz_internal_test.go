package ask

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzFields: whatever a service answers, what it tells is a number of zero or more, or nothing.
func FuzzFields(f *testing.F) {
	for _, s := range []string{
		"", "0", "2", "-1", "NaN", "1e308", "1e-400", "0x1p60", "Wed, 01 May 2024 12:00:03 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
		`"api";r=9;t=1`, `"a";r=9;t=1, "b";r=3;t=60`, "limit=10, remaining=4, reset=1", "r=9223372036854775808", "r=,;r=-5;remaining=", " 7 ,8\t;9",
	} {
		f.Add(s, "5")
	}
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, one, two string) {
		for _, name := range append([]string{"Retry-After"}, remainingFields...) {
			h := http.Header{name: {one, two}}
			wait := retryAfter(h, now)
			require.True(t, wait == untold || wait >= 0, wait)
			n, field := remaining(h)
			require.True(t, n == untold && field == "" || n >= 0 && field == http.CanonicalHeaderKey(name), "%d by %q", n, field)
			if name == "X-Ratelimit-Remaining" && n != untold {
				require.True(t, strings.ContainsAny(one+two, "0123456789"))
			}
		}
	})
}
