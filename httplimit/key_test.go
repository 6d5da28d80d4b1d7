package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/httplimit"
)

// admitted asks a server that admits two of each client, and tells who was admitted.
func admitted(t *testing.T, opts *httplimit.AddressOptions, requests ...[]string) string {
	t.Helper()
	addresses, err := httplimit.NewAddresses(opts)
	require.NoError(t, err)
	h := handler(t, nil, httplimit.Rule{Name: "api", Key: addresses.Key, Limiter: newWorld(t).firstHit("2/min")})
	var b strings.Builder
	for _, r := range requests {
		if get(h, r[0], r[1:]...).StatusCode == 200 {
			b.WriteByte('A')
		} else {
			b.WriteByte('D')
		}
	}
	return b.String()
}

// RL-106: headers are not believed, unless a trusted proxy wrote them.
func TestRL106ForgedForwardedFor(t *testing.T) {
	proxies := &httplimit.AddressOptions{TrustedProxies: []string{"10.0.0.0/8"}}
	var forged [][]string
	for i := range 10 {
		forged = append(forged, []string{fmt.Sprintf("203.0.113.9:%d", 1000+i), "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i)})
	}
	require.Equal(t, "AADDDDDDDD", admitted(t, nil, forged...))
	require.Equal(t, "AADDDDDDDD", admitted(t, proxies, forged...), "not from a proxy")
	for i := range forged {
		forged[i][0] = "10.0.0.1:9"
		forged[i][2] = fmt.Sprintf("6.6.6.%d, 198.51.100.7", i)
	}
	require.Equal(t, "AADDDDDDDD", admitted(t, proxies, forged...), "from the right")

	for name, c := range map[string]struct {
		opts    *httplimit.AddressOptions
		from    string
		headers []string
		want    string
	}{
		"right to left":    {proxies, "10.0.0.1:9", []string{"X-Forwarded-For", "6.6.6.6, 198.51.100.7"}, "198.51.100.7"},
		"several proxies":  {proxies, "10.0.0.1:9", []string{"X-Forwarded-For", "6.6.6.6, 198.51.100.7, 10.1.1.1"}, "198.51.100.7"},
		"several fields":   {proxies, "10.0.0.1:9", []string{"X-Forwarded-For", "6.6.6.6", "X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"a mapped proxy":   {proxies, "[::ffff:10.0.0.1]:9", []string{"X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"nonsense":         {proxies, "10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7, nonsense"}, "10.0.0.1"},
		"no header":        {proxies, "10.0.0.1:9", nil, "10.0.0.1"},
		"only proxies":     {proxies, "10.0.0.1:9", []string{"X-Forwarded-For", "10.0.0.2"}, "10.0.0.1"},
		"another header":   {proxies, "10.0.0.1:9", []string{"X-Real-Ip", "198.51.100.7"}, "10.0.0.1"},
		"IPv6 client":      {proxies, "10.0.0.1:9", []string{"X-Forwarded-For", "2001:db8::7"}, "2001:db8::7"},
		"Forwarded":        {&httplimit.AddressOptions{TrustedProxies: []string{"10.0.0.1"}, Header: "Forwarded"}, "10.0.0.1:9", []string{"Forwarded", `for=6.6.6.6, for="[2001:db8::7]:4711";proto=https`}, "2001:db8::7"},
		"one address":      {&httplimit.AddressOptions{TrustedProxies: []string{"10.0.0.1"}, Header: "X-Real-IP"}, "10.0.0.1:9", []string{"X-Real-Ip", "198.51.100.7"}, "198.51.100.7"},
		"forged there":     {&httplimit.AddressOptions{TrustedProxies: []string{"10.0.0.1"}, Header: "X-Real-IP"}, "203.0.113.9:9", []string{"X-Real-Ip", "198.51.100.7"}, "203.0.113.9"},
		"a trusted socket": {&httplimit.AddressOptions{TrustedProxies: []string{"unix"}}, "@", []string{"X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"a socket":         {proxies, "@", []string{"X-Forwarded-For", "198.51.100.7"}, "invalid IP"},
		"a mapped range":   {&httplimit.AddressOptions{TrustedProxies: []string{"::ffff:10.0.0.0/104"}}, "10.9.9.9:1", []string{"X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"a zone":           {nil, "[fe80::1%eth0]:9", nil, "fe80::1"},
		"no port":          {nil, "203.0.113.9", nil, "203.0.113.9"},
	} {
		addresses, err := httplimit.NewAddresses(c.opts)
		require.NoError(t, err, name)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.from
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Add(c.headers[i], c.headers[i+1])
		}
		require.Equal(t, c.want, addresses.Of(r).String(), name)
	}
}

// RL-107: the port is no part of the key.
func TestRL107PortIsDropped(t *testing.T) {
	for _, ip := range []string{"203.0.113.9", "[2001:db8::1]"} {
		var requests [][]string
		for port := range 10 {
			requests = append(requests, []string{fmt.Sprintf("%s:%d", ip, port+1)})
		}
		require.Equal(t, "AADDDDDDDD", admitted(t, nil, requests...))
	}
}

// RL-109: an IPv6 network is one client.
func TestRL109IPv6Network(t *testing.T) {
	var one, many [][]string
	for i := range 100 {
		one = append(one, []string{fmt.Sprintf("[2001:db8:1:2::%x]:5", i+1)})
		many = append(many, []string{fmt.Sprintf("[2001:db8:1:%x::1]:5", i)})
	}
	require.Equal(t, "AA"+strings.Repeat("D", 98), admitted(t, nil, one...))
	require.Equal(t, "AADDA", admitted(t, nil,
		[]string{"[2001:db8:1:2::]:5"}, []string{"[2001:db8:1:2::ffff]:5"}, []string{"[2001:db8:1:2:8000::]:5"},
		[]string{"[2001:db8:1:2:ffff:ffff:ffff:ffff]:5"}, []string{"[2001:db8:1:3::]:5"}), "all of the network, and no more")
	require.Equal(t, strings.Repeat("A", 100), admitted(t, nil, many...))
	require.Equal(t, strings.Repeat("A", 100), admitted(t, &httplimit.AddressOptions{IPv6Prefix: 128}, one...))
	require.Equal(t, "AA"+strings.Repeat("D", 98), admitted(t, &httplimit.AddressOptions{IPv6Prefix: 48}, many...))
}

// RL-111: an IPv4 address is the same client however it is written.
func TestRL111MappedIPv4(t *testing.T) {
	require.Equal(t, "AADAAD", admitted(t, nil,
		[]string{"[::ffff:192.0.2.1]:1"}, []string{"[::ffff:192.0.2.1]:2"}, []string{"[::ffff:192.0.2.1]:3"},
		[]string{"[::ffff:192.0.2.2]:1"}, []string{"192.0.2.2:1"}, []string{"192.0.2.2:2"}))
}

// RL-113: different parts never make the same key.
func TestRL113PartsAreJoinedUnambiguously(t *testing.T) {
	a, b := httplimit.Header("A"), httplimit.Header("B")
	key := func(k httplimit.Key, headers ...string) string {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		s, ok := k(r)
		require.True(t, ok)
		return s
	}
	both := httplimit.All(a, b)
	require.NotEqual(t, key(both, "A", "10.0.0.1", "B", "1/x"), key(both, "A", "10.0.0.11", "B", "/x"))
	require.NotEqual(t, key(both, "A", "a:b", "B", "c"), key(both, "A", "a", "B", "b:c"))
	require.NotEqual(t, key(both, "A", "1:x1:y", "B", "z"), key(both, "A", "1:x", "B", "1:yz"))
	require.Equal(t, key(both, "A", "x", "B", "y"), key(both, "A", "x", "B", "y"))
	first := httplimit.FirstOf(a, b)
	require.NotEqual(t, key(first, "A", "x"), key(first, "B", "x"), "nobody can name himself another's address")
	_, ok := both(httptest.NewRequest(http.MethodGet, "/", nil))
	require.False(t, ok)
	_, ok = first(httptest.NewRequest(http.MethodGet, "/", nil))
	require.False(t, ok)

	l := newWorld(t).firstHit("1/min")
	require.NotEqual(t,
		ruleKey(t, httplimit.Rule{Name: "a", Key: a, Limiter: l}, "A", "b:c"),
		ruleKey(t, httplimit.Rule{Name: "a.b", Key: a, Limiter: l}, "A", "c"))
}

func ruleKey(t *testing.T, rule httplimit.Rule, headers ...string) string {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	key, ok := rule.KeyOf(r)
	require.True(t, ok)
	return key
}

// RL-114: what a client sends does not set how long a stored key is.
func TestRL114LongKeysAreBounded(t *testing.T) {
	l := newWorld(t).firstHit("1/min")
	h := handler(t, nil, httplimit.Rule{Name: "api", Key: httplimit.Header("Token"), Limiter: l})
	prefix := strings.Repeat("x", 10_000)
	for i := range 10_000 {
		token := fmt.Sprint(prefix, i)
		require.Equal(t, 200, get(h, "203.0.113.9:1", "Token", token).StatusCode, "equal prefixes stay apart")
		for _, key := range l.Keys("api:" + token) {
			require.Less(t, len(key), 128)
		}
	}
	require.Equal(t, 429, get(h, "203.0.113.9:1", "Token", prefix+"0").StatusCode)
}

func TestHeaderAndCookie(t *testing.T) {
	for _, c := range []struct {
		key    httplimit.Key
		name   string
		header string
		want   string
		ok     bool
	}{
		{httplimit.Header("x-api-key"), "X-Api-Key", "k1", "k1", true},
		{httplimit.Header("x-api-key"), "X-Api-Key", "", "", false},
		{httplimit.Cookie("sid"), "Cookie", "a=b; sid=42", "42", true},
		{httplimit.Cookie("sid"), "Cookie", "a=b; sid=", "", false},
		{httplimit.Cookie("sid"), "Cookie", "a=b", "", false},
		{httplimit.Everyone, "A", "b", "", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set(c.name, c.header)
		got, ok := c.key(r)
		require.Equal(t, c.want, got)
		require.Equal(t, c.ok, ok)
	}
}

func TestWrongAddressOptions(t *testing.T) {
	for want, opts := range map[string]*httplimit.AddressOptions{
		`trusted proxy: "10.0.0.0/33"`: {TrustedProxies: []string{"10.0.0.0/33"}},
		`trusted proxy: "fe80::1%en0"`: {TrustedProxies: []string{"fe80::1%en0"}},
		"IPv6 prefix: 129":             {IPv6Prefix: 129},
		"IPv6 prefix: 16":              {IPv6Prefix: 16},
		"trusted proxies: none":        {Header: "X-Real-IP"},
	} {
		_, err := httplimit.NewAddresses(opts)
		var wrong *weir.FieldError
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, want)
	}
	_, err := (&httplimit.Addresses{}).In("everywhere")
	require.ErrorContains(t, err, `range: "everywhere"`)
}
