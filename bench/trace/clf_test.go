package trace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/trace"
)

const at = "[10/Oct/2000:13:55:36 -0700]"

var atMicros = time.Date(2000, 10, 10, 20, 55, 36, 0, time.UTC).UnixMicro()

func TestAccessLogTimes(t *testing.T) {
	for stamp, want := range map[string]time.Time{
		"10/Oct/2000:13:55:36 -0700":         time.Date(2000, 10, 10, 20, 55, 36, 0, time.UTC),
		"10/Oct/2000:13:55:36 +0545":         time.Date(2000, 10, 10, 8, 10, 36, 0, time.UTC),
		"29/Feb/2000:23:59:59 +0000":         time.Date(2000, 2, 29, 23, 59, 59, 0, time.UTC),
		"10/Oct/2000:13:55:36.5 +0000":       time.Date(2000, 10, 10, 13, 55, 36, 500_000_000, time.UTC),
		"10/Oct/2000:13:55:36.1234569 +0000": time.Date(2000, 10, 10, 13, 55, 36, 123_456_000, time.UTC),
		"01/Jan/1970:00:00:00 +0000":         time.Unix(0, 0),
		"31/Dec/2200:23:59:59 +0000":         time.Date(2200, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		tr := read(t, "h - - ["+stamp+"] \"GET / HTTP/1.1\" 200 1", nil)
		require.Equal(t, []int64{want.UnixMicro()}, times(tr), stamp)
	}
	for _, stamp := range []string{
		"", "-", "10/Oct/2000", "10/Oct/2000:13:55:36", "10/Oct/2000:13:55:36 0700 ", "10/Okt/2000:13:55:36 -0700",
		"32/Oct/2000:13:55:36 -0700", "30/Feb/2000:13:55:36 -0700", "10/Oct/2000:24:55:36 -0700", "10/Oct/2000:13:60:36 -0700",
		"10/Oct/2000:13:55:60 -0700", "10/Oct/2000:13:55:36 -0760", "10/Oct/2000:13:55:36 -2400", "10/Oct/2000:13:55:36. -0700",
		"10/Oct/1969:13:55:36 -0700", "01/Jan/2201:00:00:00 +0000", "01/Jan/1970:00:00:00 +0001", "10/Oct/2000:1x:55:36 -0700",
		"10/Oct/2000:13:55:36 -07000",
	} {
		got := fails(t, "h - - ["+stamp+"] \"GET / HTTP/1.1\" 200 1", &trace.Options{Format: "clf"})
		require.Contains(t, got, "line 1: time", stamp)
	}
}

func TestAccessLogFields(t *testing.T) {
	const combined = `::1 - john doe ` + at + ` "POST /a/b?c=d HTTP/1.1" 302 17 "http://x/\"y\"" "agent \x41\\"`
	for key, want := range map[string]string{
		"": "::1", "host": "::1", "user": "john doe", "path": "/a/b", "method": "POST", "status": "302",
		"referer": `http://x/"y"`, "agent": `agent A\`,
	} {
		tr := read(t, combined, &trace.Options{Key: key})
		require.Equal(t, []trace.Event{{Time: atMicros, Key: want, Cost: 1}}, tr.Events, key)
		require.Equal(t, "combined", tr.Format)
	}
	for _, key := range []string{"user", "referer", "agent", "status", "path", "method"} {
		got := fails(t, `h - - `+at+` "-" - - "-" "-"`, &trace.Options{Key: key})
		require.Contains(t, got, "line 1: "+key+" must not be missing", key)
	}
	require.Contains(t, fails(t, `h - "" `+at+` "GET /" 200 1`, &trace.Options{Key: "user"}), "user must not be missing")
}

func TestAnyTokenIsAHost(t *testing.T) {
	for _, host := range []string{"localhost", "198.51.100.7", "999.999.1.2", "2001:db8::1", "-", "dip-1.example", "[x]", "\xff\xfe", "BZhost", "a\"b"} {
		require.Equal(t, []string{host}, keys(read(t, host+" - - "+at+" \"GET / HTTP/1.0\" 200 -\r\n", nil)))
	}
	require.Contains(t, fails(t, " - - "+at+` "GET /" 200 1`, &trace.Options{Format: "clf"}), "host")
}

func TestRequestLines(t *testing.T) {
	for request, want := range map[string]string{
		`GET /a HTTP/1.1`:              "/a",
		`GET /a?b HTTP/1.1`:            "/a",
		`GET /a b c HTTP/1.0`:          "/a b c",
		`GET /old`:                     "/old",
		`GET /a"b HTTP/1.0`:            `/a"b`,
		`GET /a\"b\x20\\ HTTP/1.0`:     `/a"b \`,
		`GET /\xzz\q HTTP/1.0`:         `/\xzz\q`,
		`GET http://x.y/p?q HTTP/1.1`:  "/p",
		`GET http://x.y HTTP/1.1`:      "/",
		`GET https://x.y?q=/ HTTP/1.1`: "/",
		`OPTIONS * HTTP/1.1`:           "*",
		`M-SEARCH /s HTTP/1.1`:         "/s",
		`-`:                            "",
		``:                             "",
		`GET`:                          "",
		`GET HTTP/1.1`:                 "",
		`\x16\x03\x01 \x02`:            "",
		"\x16\x03 \x00\x01":            "",
		`GET /cut` + "\x00":            "/cut\x00",
	} {
		line := "h - - " + at + ` "` + request + `" 200 17`
		require.Equal(t, []string{"h"}, keys(read(t, line, nil)), "a strange request is a request")
		if want == "" {
			require.Contains(t, fails(t, line, &trace.Options{Key: "path"}), "line 1: path must not be missing", request)
			continue
		}
		require.Equal(t, []string{want}, keys(read(t, line, &trace.Options{Key: "path"})), request)
	}
	cut := "h - - " + at + ` "GET /log`
	require.Equal(t, []string{"h"}, keys(read(t, cut, nil)))
	require.Contains(t, fails(t, cut, &trace.Options{Key: "path"}), "path", "half a path is no path")
	require.Equal(t, []string{"h"}, keys(read(t, "h - - "+at, nil)))
}

func TestATimeInAUserOrARequestIsNotTheTime(t *testing.T) {
	const fake = "[01/Jan/2030:00:00:00 +0000]"
	for _, line := range []string{
		"h - x " + fake + " " + at + ` "GET / HTTP/1.1" 200 1`,
		"h - - " + at + ` "GET / ` + fake + ` HTTP/1.1" 200 1 "-" "` + fake + `"`,
		`h - "" ` + at + ` "GET / ` + fake + ` HTTP/1.1" 200 1`,
	} {
		require.Equal(t, []int64{atMicros}, times(read(t, line, nil)), line)
	}
	fails(t, `h - - [broken] "GET / `+fake+` HTTP/1.1" 200 1`, &trace.Options{Format: "clf"})
}

func TestMatch(t *testing.T) {
	requests := []string{
		"POST /login", "GET /login", "POST /login?next=/", "POST /login/sso", "POST /loginx", "POST /log", "POST /", "GET /api/v1", "-",
	}
	var log strings.Builder
	for i, r := range requests {
		fmt.Fprintf(&log, "%d - - %s \"%s HTTP/1.1\" 200 1\n", i, at, r)
	}
	for pattern, want := range map[string]string{
		"POST /login": "0 2 3", "post /login": "0 2 3", "/login": "0 1 2 3", "POST /login*": "0 2 3 4",
		"/login/": "3", "/": "0 1 2 3 4 5 6 7", "GET *": "1 7", "GET /api": "7", "/api/*": "7",
	} {
		tr := read(t, log.String(), &trace.Options{Match: pattern})
		require.Equal(t, want, strings.Join(keys(tr), " "), pattern)
		require.Equal(t, len(requests)-len(tr.Events), tr.Unmatched)
	}
}

func BenchmarkCLF(b *testing.B) {
	var log strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&log, "host-%d - - %s \"GET /path/%d HTTP/1.1\" 200 1234 \"-\" \"agent\"\n", i%100, at, i)
	}
	b.SetBytes(int64(log.Len()))
	b.ReportAllocs()
	for b.Loop() {
		tr, err := trace.Read(strings.NewReader(log.String()), "bench", nil)
		if err != nil || len(tr.Events) != 10_000 || tr.Keys != 100 {
			b.Fatal(err, tr)
		}
	}
}
