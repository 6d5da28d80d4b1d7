package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// A kind is one of the programs, as these tests see it.
type kind struct {
	name     string
	start    func(ctx context.Context, port int, args ...string) (*server.Server, error)
	question string // one that every client may ask
	answer   string // how the reply begins
}

var kinds = []kind{
	{
		"redis-server",
		func(ctx context.Context, port int, args ...string) (*server.Server, error) {
			return server.StartRedis(ctx, &server.RedisOptions{Port: port, Args: args})
		},
		"PING\r\n", "+PONG",
	},
	{
		"memcached",
		func(ctx context.Context, port int, args ...string) (*server.Server, error) {
			return server.StartMemcached(ctx, &server.MemcachedOptions{Port: port, Args: args})
		},
		"version\r\n", "VERSION ",
	},
}

func eachKind(t *testing.T, f func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { f(t, k) })
	}
}

// run starts a server that t owns.
func (k kind) run(t *testing.T, ctx context.Context, port int, args ...string) *server.Server {
	t.Helper()
	s, err := k.start(ctx, port, args...)
	return servertest.Adopt(t, s, err)
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ask sends one question and returns the first line of the reply.
func ask(t *testing.T, conn net.Conn, question string) string {
	t.Helper()
	_, err := fmt.Fprint(conn, question)
	require.NoError(t, err)
	return readLine(t, conn)
}

func readLine(t *testing.T, conn net.Conn) string {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// requireGone waits until nothing listens at addr any more.
func requireGone(t *testing.T, addr string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, 10*time.Second, 5*time.Millisecond)
}

// ownTempDir makes the servers of this test put their files where the test can see them.
func ownTempDir(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestAnswersAndStops(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		tmp := ownTempDir(t)
		s := k.run(t, t.Context(), 0)
		require.Equal(t, fmt.Sprintf("127.0.0.1:%d", s.Port), s.Addr)
		require.NotEqual(t, os.Getpid(), s.PID)
		require.Regexp(t, `^\d+\.\d+\.\d+`, s.Version)
		require.Contains(t, ask(t, dial(t, s.Addr), k.question), k.answer)

		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := s.Stop(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.NoError(t, s.Stop(), "a stopped server may be stopped again")
		_, err := net.Dial("tcp", s.Addr)
		require.Error(t, err, "gone when Stop returns")
		requireEmpty(t, tmp)
		require.NoError(t, s.Pause(), "a server that is gone is no error")
		require.NoError(t, s.Kill())
	})
}

func TestListensOnOneAddress(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		s := k.run(t, t.Context(), 0)
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.2:%d", s.Port))
		if err == nil {
			conn.Close()
		}
		require.Error(t, err)
	})
}

func TestRedisKeepsNothing(t *testing.T) {
	tmp := ownTempDir(t)
	s := servertest.Redis(t)
	conn := dial(t, s.Addr)
	require.Equal(t, "+OK", ask(t, conn, "SET key value\r\n"))
	require.Equal(t, "+OK", ask(t, conn, "SAVE\r\n"), "a dump that somebody asks for is written")
	require.NoError(t, s.Stop())
	requireEmpty(t, tmp)
}

func TestRedisPassword(t *testing.T) {
	s, err := server.StartRedis(t.Context(), &server.RedisOptions{Password: "swordfish, twice"})
	s = servertest.Adopt(t, s, err)
	conn := dial(t, s.Addr)
	require.Contains(t, ask(t, conn, "PING\r\n"), "-NOAUTH")
	require.Equal(t, "+OK", ask(t, conn, "AUTH \"swordfish, twice\"\r\n"))
}

func TestRedisArgsComeLast(t *testing.T) {
	s, err := server.StartRedis(t.Context(), &server.RedisOptions{Args: []string{"--appendonly", "yes"}})
	s = servertest.Adopt(t, s, err)
	conn := dial(t, s.Addr)
	_, err = fmt.Fprint(conn, "CONFIG GET appendonly\r\n")
	require.NoError(t, err)
	r := bufio.NewReader(conn)
	var reply []string
	for range 5 {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		reply = append(reply, strings.TrimSpace(line))
	}
	require.Equal(t, []string{"*2", "$10", "appendonly", "$3", "yes"}, reply)
}

func TestMemcachedOptions(t *testing.T) {
	settings := func(opts *server.MemcachedOptions) map[string]string {
		s, err := server.StartMemcached(t.Context(), opts)
		s = servertest.Adopt(t, s, err)
		conn := dial(t, s.Addr)
		_, err = fmt.Fprint(conn, "stats settings\r\n")
		require.NoError(t, err)
		got := make(map[string]string)
		for lines := bufio.NewScanner(conn); lines.Scan() && lines.Text() != "END"; {
			name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "STAT "), " ")
			got[name] = value
		}
		return got
	}

	byDefault := settings(nil)
	require.Equal(t, "4096", byDefault["maxconns"])
	require.Equal(t, "0", byDefault["udpport"])

	got := settings(&server.MemcachedOptions{Threads: 2, MegaBytes: 8, Conns: 100, Args: []string{"-M"}})
	require.Equal(t, "2", got["num_threads"])
	require.Equal(t, fmt.Sprint(8<<20), got["maxbytes"])
	require.Equal(t, "100", got["maxconns"])
	require.Equal(t, "off", got["evictions"])
}

func TestInvalidOptions(t *testing.T) {
	memcached := func(o server.MemcachedOptions) error {
		_, err := server.StartMemcached(t.Context(), &o)
		return err
	}
	_, err := server.StartRedis(t.Context(), &server.RedisOptions{Port: 65536})
	require.EqualError(t, err, "server: Port 65536: must be 1 to 65535, or 0 for a free one")
	require.ErrorContains(t, memcached(server.MemcachedOptions{Port: -1}), "server: Port -1: must be")
	require.EqualError(t, memcached(server.MemcachedOptions{Threads: -1}),
		"server: Threads -1: must be positive, or 0 for the default")
	require.ErrorContains(t, memcached(server.MemcachedOptions{MegaBytes: -2}), "server: MegaBytes -2: must be")
	require.ErrorContains(t, memcached(server.MemcachedOptions{Conns: -3}), "server: Conns -3: must be")
}

func TestNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := server.StartRedis(t.Context(), nil)
	require.ErrorIs(t, err, server.ErrNotInstalled)
	require.EqualError(t, err,
		"server: not installed: redis-server is not on PATH (Debian: apt-get install redis-server)")
	_, err = server.StartMemcached(t.Context(), nil)
	require.ErrorIs(t, err, server.ErrNotInstalled)
	require.ErrorContains(t, err, "memcached is not on PATH (Debian: apt-get install memcached)")
}

func TestEarlyDeathQuotesTheLastLine(t *testing.T) {
	lastLines := map[string]string{
		"redis-server": "Bad directive or wrong number of arguments",
		"memcached":    `Illegal argument "?"`,
	}
	eachKind(t, func(t *testing.T, k kind) {
		tmp := ownTempDir(t)
		k.run(t, t.Context(), 0) // skips where the program is missing
		s, err := k.start(t.Context(), 0, "--no-such-option", "1")
		require.Nil(t, s)
		require.ErrorContains(t, err, "server: "+k.name+" ended before it answered (exit status ")
		require.ErrorContains(t, err, "): "+lastLines[k.name])
		entries, err := os.ReadDir(tmp)
		require.NoError(t, err)
		require.Len(t, entries, 1, "only the living server's directory")
	})
}

func TestKillAndRestartOnTheSamePort(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		first := k.run(t, t.Context(), 0)
		conn := dial(t, first.Addr)
		require.Contains(t, ask(t, conn, k.question), k.answer)

		_, err := k.start(t.Context(), first.Port)
		require.ErrorContains(t, err, "the port is taken")

		require.NoError(t, first.Kill())
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err, "the connection broke")
		_, err = net.Dial("tcp", first.Addr)
		require.Error(t, err, "gone when Kill returns")

		second := k.run(t, t.Context(), first.Port)
		require.Equal(t, first.Addr, second.Addr)
		require.NotEqual(t, first.PID, second.PID)
		require.NoError(t, first.Stop(), "stopping the dead one leaves the living one alone")
		require.Contains(t, ask(t, dial(t, second.Addr), k.question), k.answer)
	})
}

func TestPauseAndResume(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		s := k.run(t, t.Context(), 0)
		conn := dial(t, s.Addr)
		require.Contains(t, ask(t, conn, k.question), k.answer)

		require.NoError(t, s.Pause())
		_, err := fmt.Fprint(conn, k.question)
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a frozen server keeps silent")

		require.NoError(t, s.Resume())
		require.Contains(t, readLine(t, conn), k.answer)

		require.NoError(t, s.Pause())
		require.NoError(t, s.Stop(), "a frozen server can be stopped")
		_, err = net.Dial("tcp", s.Addr)
		require.Error(t, err)
	})
}

func TestContextStopsTheServer(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		tmp := ownTempDir(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		s := k.run(t, ctx, 0)
		why := errors.New("enough")
		cancel(why)
		requireGone(t, s.Addr)
		require.NoError(t, s.Stop())
		requireEmpty(t, tmp)

		_, err := k.start(ctx, 0)
		require.ErrorIs(t, err, why)
		requireEmpty(t, tmp)
	})
}
