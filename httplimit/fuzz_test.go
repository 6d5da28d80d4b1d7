package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/httplimit"
)

// FuzzAddresses: whatever a client writes into the headers, it does not choose its key unless a trusted proxy
// passed it on, the key is an address or a network of the width that was asked for, and what is to the left of
// the first address that is not trusted does not matter.
func FuzzAddresses(f *testing.F) {
	for _, s := range []string{
		"", "198.51.100.7", "6.6.6.6, 198.51.100.7", "10.0.0.2", "nonsense", "198.51.100.7:80", "[2001:db8::1]:5", "2001:db8::1%eth0",
		"::ffff:192.0.2.1", "for=198.51.100.7", `for="[2001:db8::1]:4711";proto=http`, "unknown", ",,,", " , 198.51.100.7 ,", "10.0.0.1, 0x7f.1",
	} {
		f.Add(s, "203.0.113.9:1234")
		f.Add(s, "10.0.0.1:9")
		f.Add(s, "@")
	}
	direct, err := httplimit.NewAddresses(nil)
	require.NoError(f, err)
	headers := []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"}
	var proxied []*httplimit.Addresses
	for _, name := range headers {
		a, err := httplimit.NewAddresses(&httplimit.AddressOptions{TrustedProxies: []string{"10.0.0.0/8"}, Header: name, IPv6Prefix: 56})
		require.NoError(f, err)
		proxied = append(proxied, a)
	}
	f.Fuzz(func(t *testing.T, value, from string) {
		for i, name := range headers {
			request := func(values ...string) *http.Request {
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.RemoteAddr = from
				r.Header[name] = values
				return r
			}
			plain := request()
			believed, ok := direct.Key(request(value))
			require.True(t, ok)
			want, _ := direct.Key(plain)
			require.Equal(t, want, believed, "no header is read")

			a := proxied[i]
			key, ok := a.Key(request(value))
			require.True(t, ok)
			peer := a.Of(plain)
			if !peer.IsValid() || !netip.MustParsePrefix("10.0.0.0/8").Contains(peer) {
				want, _ := a.Key(plain)
				require.Equal(t, want, key, "not from a proxy")
				continue
			}
			if addr, err := netip.ParseAddr(key); err == nil {
				require.True(t, addr.Is4())
			} else {
				p, err := netip.ParsePrefix(key)
				require.NoError(t, err, key)
				require.Equal(t, 56, p.Bits())
			}
			if name == "X-Forwarded-For" && key != peer.String() {
				forged, _ := a.Key(request("6.6.6.6, 10.9.9.9", value))
				require.Equal(t, key, forged, "from the right, up to the first that is not trusted")
			}
		}
	})
}

// FuzzKeys: parts that differ never make the same key.
func FuzzKeys(f *testing.F) {
	f.Add("a:b", "c", "a", "b:c")
	f.Add("10.0.0.1", "1/x", "10.0.0.11", "/x")
	f.Add("1:", "", "", "1:")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		keys := func(one, two string) (all, either string) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			part := func(s string) httplimit.Key {
				return func(*http.Request) (string, bool) { return s, !strings.HasPrefix(s, "-") }
			}
			all, ok := httplimit.All(part(one), part(two))(r)
			require.Equal(t, !strings.HasPrefix(one, "-") && !strings.HasPrefix(two, "-"), ok)
			either, _ = httplimit.FirstOf(part(one), part(two))(r)
			return all, either
		}
		all1, first1 := keys(a, b)
		all2, first2 := keys(c, d)
		if all1 != "" && (a != c || b != d) {
			require.NotEqual(t, all1, all2)
		}
		if first1 != "" && first1 == first2 {
			require.True(t, a == c || strings.HasPrefix(a, "-") && b == d, "%q %q %q %q", a, b, c, d)
		}
	})
}
