package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// script returns a program that runs a shell script whose $1 is the port, with its files in the returned folder.
func script(t *testing.T, text string) (pr *program, tmp string) {
	t.Helper()
	bin := t.TempDir()
	path := filepath.Join(bin, "fake")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	tmp = t.TempDir()
	t.Setenv("TMPDIR", tmp)
	return &program{
		name:  "fake",
		args:  func(port int, _ string) []string { return []string{strconv.Itoa(port)} },
		probe: probeMemcached,
		grace: time.Minute,
		port:  freePort,
	}, tmp
}

// requireNothingLeft checks that no directory stayed in tmp.
func requireNothingLeft(t *testing.T, tmp string) {
	t.Helper()
	entries, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// answering listens and answers every question with statistics that name pid.
func answering(t *testing.T, pid func() int) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
				fmt.Fprintf(conn, "STAT pid %d\r\nSTAT version 1.2.3\r\nEND\r\n", pid())
			}
			conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// filePID waits for the process id that a script wrote to its own directory in tmp.
func filePID(tmp string) int {
	for range 1000 {
		if found, _ := filepath.Glob(filepath.Join(tmp, "weir-fake-*", "pid")); len(found) == 1 {
			text, _ := os.ReadFile(found[0])
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				return pid
			}
		}
		time.Sleep(time.Millisecond)
	}
	return -1
}

func TestLaunchTriesAnotherPort(t *testing.T) {
	t.Run("when the child finds its port in use", func(t *testing.T) {
		pr, tmp := script(t, `if [ "$1" = 1 ]; then echo "bind: Address already in use" >&2; exit 71; fi
echo $$ >pid.new; mv pid.new pid; exec sleep 600
`)
		good := answering(t, func() int { return filePID(tmp) })
		ports := []int{1, 1, good}
		pr.port = func() (int, error) {
			p := ports[0]
			ports = ports[1:]
			return p, nil
		}
		s, err := pr.launch(t.Context())
		require.NoError(t, err)
		require.Empty(t, ports)
		require.Equal(t, good, s.Port)
		require.Equal(t, "1.2.3", s.Version)
		require.NoError(t, s.Stop())
		requireNothingLeft(t, tmp)
	})

	t.Run("when somebody else answers", func(t *testing.T) {
		pr, tmp := script(t, "exec sleep 600\n")
		port := answering(t, func() int { return 1 })
		tries := 0
		pr.port = func() (int, error) { tries++; return port, nil }
		_, err := pr.launch(t.Context())
		require.ErrorIs(t, err, errPortTaken)
		require.ErrorContains(t, err, "is answered by process 1, not by the one started")
		require.Equal(t, attempts, tries)
		requireNothingLeft(t, tmp)
	})

	t.Run("but not when the port was given", func(t *testing.T) {
		pr, tmp := script(t, "echo 'listen: address already in use'; exit 1\n")
		tries := 0
		pr.port = func() (int, error) { tries++; return 1, nil }
		pr.fixed = true
		_, err := pr.launch(t.Context())
		require.EqualError(t, err, "server: fake at 127.0.0.1:1: the port is taken: listen: address already in use")
		require.Equal(t, 1, tries)
		requireNothingLeft(t, tmp)
	})
}

func TestLaunchDoesNotRepeatOtherFailures(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"with a last line": {"echo first; echo last; exit 3", "server: fake ended before it answered (exit status 3): last"},
		"in silence":       {"exit 0", "server: fake ended before it answered (exit status 0): no output"},
	} {
		t.Run(name, func(t *testing.T) {
			pr, tmp := script(t, "echo x >>\"$COUNT\"\n"+c.text+"\n")
			count := filepath.Join(t.TempDir(), "count")
			t.Setenv("COUNT", count)
			_, err := pr.launch(t.Context())
			require.EqualError(t, err, c.want)
			runs, err := os.ReadFile(count)
			require.NoError(t, err)
			require.Equal(t, "x\n", string(runs))
			requireNothingLeft(t, tmp)
		})
	}
}

func TestLaunchEndsWithItsContext(t *testing.T) {
	pr, tmp := script(t, "exec sleep 600\n")
	ctx, cancel := context.WithCancel(t.Context())
	port, err := freePort()
	require.NoError(t, err)
	pr.port = func() (int, error) { cancel(); return port, nil }
	_, err = pr.launch(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "server: starting fake: ")
	requireNothingLeft(t, tmp)
}

func TestStopKillsWhatIgnoresSIGTERM(t *testing.T) {
	pr, tmp := script(t, "trap '' TERM; echo $$ >pid.new; mv pid.new pid; exec sleep 600\n")
	pr.grace = 10 * time.Millisecond
	port := answering(t, func() int { return filePID(tmp) })
	pr.port = func() (int, error) { return port, nil }
	s, err := pr.launch(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Stop())
	require.ErrorContains(t, s.proc.err, "killed")
	requireNothingLeft(t, tmp)
}

func TestStopLetsAFrozenServerEndInOrder(t *testing.T) {
	pr, tmp := script(t, "trap 'exit 0' TERM; echo $$ >pid.new; mv pid.new pid; while :; do sleep 0.01; done\n")
	port := answering(t, func() int { return filePID(tmp) })
	pr.port = func() (int, error) { return port, nil }
	s, err := pr.launch(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Pause())
	require.NoError(t, s.Stop())
	require.NoError(t, s.proc.err, "exit status 0, not killed")
	requireNothingLeft(t, tmp)
}

func TestProbesRefuseStrangeReplies(t *testing.T) {
	ask := func(probe func(*bufio.ReadWriter) (identity, error), reply string) (identity, error) {
		return probe(bufio.NewReadWriter(bufio.NewReader(strings.NewReader(reply)), bufio.NewWriter(new(tail))))
	}
	redis := func(rw *bufio.ReadWriter) (identity, error) { return probeRedis(rw, "") }
	secret := func(rw *bufio.ReadWriter) (identity, error) { return probeRedis(rw, "secret") }

	id, err := ask(redis, "$37\r\nredis_version:7.0.15\r\nprocess_id:12\r\n\r\n")
	require.NoError(t, err)
	require.Equal(t, identity{pid: 12, version: "7.0.15"}, id)
	id, err = ask(probeMemcached, "STAT pid 12\r\nSTAT uptime 1\r\nSTAT version 1.6.18\r\nEND\r\n")
	require.NoError(t, err)
	require.Equal(t, identity{pid: 12, version: "1.6.18"}, id)

	for _, c := range []struct {
		probe       func(*bufio.ReadWriter) (identity, error)
		reply, want string
	}{
		{redis, "", "EOF"},
		{redis, "\n", `unexpected reply to INFO: ""`},
		{redis, "-NOAUTH Authentication required.\r\n", "unexpected reply to INFO: \"-NOAUTH"},
		{redis, "$-1\r\n", "unexpected reply to INFO: \"$-1\""},
		{redis, "$99999999999\r\n", "unexpected reply to INFO"},
		{redis, "12\r\n", `unexpected reply to INFO: "12"`},
		{redis, "$100\r\nshort", "unexpected EOF"},
		{redis, "$20\r\nredis_version:7.0.15\r\n", "the reply to INFO lacks a process id or a version"},
		{secret, "-ERR no\r\n", `unexpected reply to AUTH: "-ERR no"`},
		{secret, "+OK\r\n", "EOF"},
		{probeMemcached, "", "EOF"},
		{probeMemcached, "ERROR\r\n", `unexpected reply to stats: "ERROR"`},
		{probeMemcached, "STAT pid x\r\nSTAT version 1\r\nEND\r\n", "the reply to stats lacks a process id or a version"},
	} {
		_, err := ask(c.probe, c.reply)
		require.ErrorContains(t, err, c.want, "reply %q", c.reply)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	out := new(tail)
	require.Equal(t, "no output", out.lastLine())
	for i := range 3000 {
		n, err := fmt.Fprintf(out, "line %d\n", i)
		require.NoError(t, err)
		require.Positive(t, n)
	}
	require.Len(t, out.buf, maxTail)
	require.Equal(t, "line 2999", out.lastLine())
	require.False(t, out.portTaken())
	_, err := out.Write([]byte("\r\nbind: Address already in use\r\n \n"))
	require.NoError(t, err)
	require.Equal(t, "bind: Address already in use", out.lastLine())
	require.True(t, out.portTaken())
}

func TestLaunchNeedsAPort(t *testing.T) {
	pr, tmp := script(t, "exec sleep 600\n")
	pr.port = func() (int, error) { return 0, errors.New("none left") }
	_, err := pr.launch(t.Context())
	require.EqualError(t, err, "server: no free loopback port for fake: none left")
	requireNothingLeft(t, tmp)
}
