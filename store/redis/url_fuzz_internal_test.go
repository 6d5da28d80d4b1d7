package redis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParseURL: any text is a client's settings, or an error of one line that quotes nothing of what could
// be a password.
func FuzzParseURL(f *testing.F) {
	const secret = "Zq9-s3cret"
	for _, seed := range []string{
		"redis://h", "redis://u:%s@h:7/3", "rediss://:%s@[::1]", "redis+sentinel://h1,h2/m/2", "redis+cluster://h1,h2", "redis://h?batch=5&trips=2",
		"redis://h/%s@x", "redis://%s@h", "redis://h?%s=1", "redis://h?timeout=%s", "redis://h#%s", "%s", "redis://h/0?read_timeout=1h&dial_timeout=-1s",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, form string) {
		o, err := parseURL(strings.ReplaceAll(form, "%s", secret))
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "redis: URL"), err)
			require.NotContains(t, err.Error(), "\n")
			if strings.Contains(form, "%s@") {
				require.NotContains(t, err.Error(), secret)
			}
			return
		}
		require.NotEmpty(t, o.Addrs)
		require.GreaterOrEqual(t, o.DB, 0)
		require.GreaterOrEqual(t, o.batch, 0)
		require.GreaterOrEqual(t, o.trips, 0)
	})
}
