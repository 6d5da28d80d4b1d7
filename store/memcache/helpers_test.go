package memcache_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memcache/memcachetest"
)

const ttl = time.Minute

// patient is a timeout that a test never waits for.
var patient = &memcache.Options{Timeout: time.Minute}

func open(t testing.TB, addr string, opts *memcache.Options) *memcache.Store {
	t.Helper()
	s, err := memcache.Open([]string{addr}, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func startFake(t testing.TB, opts *memcachetest.Options) *memcachetest.Server {
	t.Helper()
	server, err := memcachetest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

// onBoth runs a test on memcached itself and on the stand-in.
func onBoth(t *testing.T, run func(t *testing.T, s *memcache.Store, addr string)) {
	t.Run("memcached", func(t *testing.T) {
		addr := servertest.Memcached(t).Addr
		run(t, open(t, addr, patient), addr)
	})
	t.Run("memcachetest", func(t *testing.T) {
		addr := startFake(t, nil).Addr()
		run(t, open(t, addr, patient), addr)
	})
}

// brought opens a store on a client of the caller's.
func brought(t testing.TB, addr string, opts *memcache.Options) *memcache.Store {
	t.Helper()
	servers := new(gomemcache.ServerList)
	require.NoError(t, servers.SetServers(addr))
	client := gomemcache.NewFromSelector(servers)
	client.Timeout, client.MaxIdleConns, client.DialContext = opts.Timeout, 128, opts.DialContext
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	s, err := memcache.New(client, servers)
	require.NoError(t, err)
	return s
}

// eachClient runs a test with connections of the store's own and with a client that was brought.
func eachClient(t *testing.T, run func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store)) {
	t.Run("Open", func(t *testing.T) { run(t, open) })
	t.Run("New", func(t *testing.T) { run(t, brought) })
}

// clientFor returns a plain client, to see and to do what the store does not offer.
func clientFor(t testing.TB, addr string) *gomemcache.Client {
	t.Helper()
	client := gomemcache.New(addr)
	client.Timeout = time.Minute
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// talk sends one raw command and returns the first line of the reply.
func talk(t testing.TB, addr, command string) string {
	t.Helper()
	line, _, _ := strings.Cut(talkAll(t, addr, command), "\r\n")
	return line
}

// talkAll sends one raw command and returns the whole reply.
func talkAll(t testing.TB, addr, command string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, command+"\r\nquit\r\n")
	require.NoError(t, err)
	reply, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(reply)
}

// listen serves each connection with serve until the test ends.
func listen(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	stop := make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		_ = listener.Close()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				<-stop
				_ = conn.Close()
			}()
			go serve(conn)
		}
	}()
	return listener.Addr().String()
}

// scripted is a server that answers each command with what reply makes of its line, without
// the line's end. An empty reply cuts the connection.
func scripted(t testing.TB, reply func(line string) string) string {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			words := strings.Fields(line)
			switch words[0] {
			case "add", "set", "cas":
				n, err := strconv.Atoi(words[4])
				if err != nil {
					return
				}
				if _, err := in.Discard(n + 2); err != nil {
					return
				}
			}
			answer := reply(strings.TrimSpace(line))
			if answer == "" {
				return
			}
			if _, err := io.WriteString(conn, answer); err != nil {
				return
			}
		}
	})
}

// inOrder answers with the given lines, one after the other, and reports a command too many.
func inOrder(t testing.TB, lines ...string) string {
	t.Helper()
	next := make(chan string, len(lines))
	for _, line := range lines {
		next <- line
	}
	return scripted(t, func(command string) string {
		select {
		case line := <-next:
			return line + "\r\n"
		default:
			t.Errorf("unexpected command %q", command)
			return ""
		}
	})
}

func filled(n int) []byte { return bytes.Repeat([]byte("v"), n) }
