package redis

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestURL(t *testing.T) {
	o, err := parseURL("redis://ann:p%40s%2Fs@example.com/3?dial_timeout=1s&read_timeout=2s&write_timeout=3s&pool_size=7&protocol=2&client_name=me")
	require.NoError(t, err)
	require.Equal(t, []string{"example.com:6379"}, o.Addrs)
	require.Equal(t, "ann", o.Username)
	require.Equal(t, "p@s/s", o.Password)
	require.Equal(t, 3, o.DB)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, []time.Duration{o.DialTimeout, o.ReadTimeout, o.WriteTimeout})
	require.Equal(t, 7, o.PoolSize)
	require.Equal(t, 2, o.Protocol)
	require.Equal(t, "me", o.ClientName)
	require.Nil(t, o.TLSConfig)
	require.False(t, o.IsClusterMode)

	o, err = parseURL("rediss://[::1]:7000?skip_verify=true")
	require.NoError(t, err)
	require.Equal(t, []string{"[::1]:7000"}, o.Addrs)
	require.True(t, o.TLSConfig.InsecureSkipVerify)

	o, err = parseURL("redis+cluster://:a@b:c@h1:7000,h2,[fe80::1]")
	require.NoError(t, err)
	require.True(t, o.IsClusterMode)
	require.Equal(t, []string{"h1:7000", "h2:6379", "[fe80::1]:6379"}, o.Addrs)
	require.Equal(t, "a@b:c", o.Password)

	o, err = parseURL("rediss+sentinel://u:p@h1,h2:5/my%20primary/2")
	require.NoError(t, err)
	require.Equal(t, []string{"h1:26379", "h2:5"}, o.Addrs)
	require.Equal(t, "my primary", o.MasterName)
	require.Equal(t, 2, o.DB)
	require.NotNil(t, o.TLSConfig)
	require.False(t, o.TLSConfig.InsecureSkipVerify)
}

func TestOpenRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                                  "URL scheme",
		"localhost:6379":                    "URL scheme",
		"http://h":                          "URL scheme",
		"redisss://h":                       "URL scheme",
		"redis+ring://h":                    "URL scheme",
		"redis://":                          "URL host",
		"redis://h1,h2":                     "URL host: want one",
		"redis+cluster://h1,,h2":            "URL host",
		"redis://::1":                       "URL host",
		"redis://h:0":                       "URL port",
		"redis://h:65536":                   "URL port",
		"redis://h:secret":                  "URL port",
		"redis://h/x":                       "URL database",
		"redis://h/-1":                      "URL database",
		"redis://h/0/1":                     "URL database",
		"redis+cluster://h/1":               "URL path",
		"redis+sentinel://h":                "URL path",
		"redis+sentinel://h/%zz":            "URL path",
		"redis+sentinel://h/m/x":            "URL database",
		"redis://h#frag":                    "URL fragment",
		"redis://h?pool=3":                  `URL parameter "pool": want one of dial_timeout, `,
		"redis://h?pool_size=0":             `URL parameter pool_size="0": want 1`,
		"redis://h?pool_size=1&pool_size=2": "URL parameter pool_size: want it once",
		"redis://h?read_timeout=5":          `URL parameter read_timeout="5": want a duration`,
		"redis://h?skip_verify=true":        "URL parameter skip_verify",
		"redis://h?client_name=":            "URL parameter client_name",
		"redis://h?%zz":                     "URL parameters",
		"redis://secret@h":                  "URL user",
		"redis://u:sec%ret@h":               "URL user or password",
		"redis://u:sec/ret@h:1/0":           `URL: an "@" after the host`,
		"redis://u:sec?ret@h:1/0":           `URL: an "@" after the host`,
		"redis://u:sec#ret@h:1/0":           `URL: an "@" after the host`,
		"redis://u:1/secret=x@h:1/0":        `URL: an "@" after the host`,
		"redis://u:secret@h:port":           "URL port",
		"redis://u:secret@h?secre=1":        `URL parameter "secre"`,
	} {
		st, err := Open(url, nil)
		require.Nil(t, st)
		require.ErrorContains(t, err, "redis: ", url)
		require.ErrorContains(t, err, want, url)
		require.NotContains(t, err.Error(), "secret", url)
		require.NotContains(t, err.Error(), "ret@", url)
		require.Equal(t, 1, strings.Count(err.Error(), "redis: "), url)
	}
	_, err := Open("redis://h", &Options{TLS: &tls.Config{}})
	require.ErrorContains(t, err, "Options.TLS")
}

// A server that refuses connections is an error at once: the library would dial five times
// with pauses, and every decision wait for its deadline.
func TestOpenDialsOnce(t *testing.T) {
	st, err := Open("redis://localhost", nil)
	require.NoError(t, err)
	defer st.Close()
	require.Equal(t, 1, st.client.(*goredis.Client).Options().DialerRetries)
}
