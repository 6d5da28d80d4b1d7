package main

import (
	"bytes"
	"io"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/conformance"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// A server that dies half-way breaks no rule: what was not tried has no outcome.
func TestConformServerDies(t *testing.T) {
	addr := dying(t, servertest.Redis(t).Addr, 2<<20)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), strings.Fields("conform --algorithm gcra --store redis://"+addr),
		strings.NewReader(""), &stdout, &stderr)
	require.Equal(t, exitUnreachable, code, stderr.String())
	require.Contains(t, stderr.String(), "stopped to answer: ")
	require.Contains(t, stdout.String(), "no certificate: ")
	require.Contains(t, stdout.String(), " pass")
	require.Contains(t, stdout.String(), "the store no longer answers: ")
	require.NotRegexp(t, `\d fail`, stdout.String())
}

// dying forwards to the server at addr until so many bytes were sent to it, and then
// answers nobody any more.
func dying(t *testing.T, addr string, after int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var sent atomic.Int64
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", addr)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				defer client.Close()
				defer server.Close()
				for part := make([]byte, 4096); ; {
					n, err := client.Read(part)
					if sent.Add(int64(n)) > after {
						l.Close()
						return
					}
					if _, writeErr := server.Write(part[:n]); err != nil || writeErr != nil {
						return
					}
				}
			}()
			go func() { _, _ = io.Copy(client, server) }()
		}
	}()
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// A server of somebody else is left as it was.
func TestConformLeavesNothingBehind(t *testing.T) {
	for _, one := range []struct{ name, url string }{
		{"redis", "redis://" + servertest.Redis(t).Addr},
		{"memcached", "memcache://" + servertest.Memcached(t).Addr},
	} {
		t.Run(one.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := "conform --algorithm gcra --algorithm fixed-window --store " + one.url
			code := run(t.Context(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr)
			require.Equal(t, exitDone, code, stderr.String()+stdout.String())
			require.Equal(t, "0", keysOn(t, one.url), "keys left behind")
		})
	}
}

// The outcomes decide the heading and the exit code.
func TestConformVerdicts(t *testing.T) {
	for _, c := range []struct {
		statuses []conformance.Status
		heading  string
		code     int
	}{
		{[]conformance.Status{conformance.Pass, conformance.Unsupported, conformance.Skipped}, "s conforms", exitDone},
		{[]conformance.Status{conformance.Pass, conformance.Inconclusive}, "s conforms, as far as it could be tried", exitDone},
		{[]conformance.Status{conformance.Pass, conformance.OverClaimed}, "s does not conform", exitFailed},
		{[]conformance.Status{conformance.Pass, conformance.Fail}, "s does not conform", exitFailed},
		{[]conformance.Status{conformance.Fail, conformance.Error}, "no certificate: s stopped to answer", exitUnreachable},
		{[]conformance.Status{conformance.Unsupported}, "s does not conform", exitFailed},
	} {
		one := certificate{URL: "s", Report: &conformance.Report{}}
		for _, s := range c.statuses {
			one.Report.Results = append(one.Report.Results, conformance.Result{Check: "a/b", Status: s, Detail: "why"})
		}
		require.Equal(t, c.heading, one.heading())
		require.Equal(t, c.code, exitCode(conformVerdict([]certificate{one})), "%v", c.statuses)
		var b bytes.Buffer
		one.render(&b, false)
		require.Contains(t, b.String(), "why")
	}
}

func TestConformStandardOutputFails(t *testing.T) {
	code := run(t.Context(), strings.Fields("conform --store memory: --algorithm gcra"), strings.NewReader(""), brokenPipe{}, io.Discard)
	require.Equal(t, exitFailed, code)
}

// keysOn asks the server at a store's URL how many keys it holds.
func keysOn(t *testing.T, url string) string {
	scheme, addr, _ := strings.Cut(url, "://")
	ask, answer := "DBSIZE\r\n", regexp.MustCompile(`:(\d+)\r\n`)
	if scheme == "memcache" {
		ask, answer = "stats\r\n", regexp.MustCompile(`STAT curr_items (\d+)\r\n(?s:.*)END\r\n`)
	}
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = conn.Write([]byte(ask))
	require.NoError(t, err)
	var said []byte
	for part := make([]byte, 4096); ; {
		n, err := conn.Read(part)
		require.NoError(t, err, "%q", said)
		said = append(said, part[:n]...)
		if m := answer.FindSubmatch(said); m != nil {
			return string(m[1])
		}
	}
}
