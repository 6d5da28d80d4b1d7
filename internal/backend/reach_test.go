package backend

import (
	"bufio"
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

func TestNobodyThere(t *testing.T) {
	closed := "127.0.0.1:" + freePort(t)
	for url, addr := range map[string]string{
		"redis://u:s3cret@" + closed:                closed,
		"redis+cluster://:s3cret@" + closed:         closed,
		"redis+sentinel://:s3cret@" + closed + "/m": closed,
		"rediss://" + closed:                        closed,
		"memcache://" + closed:                      closed,
		"memcache+counter://" + closed:              closed,
		"redis://u:s3cret@nobody.invalid:7":         "nobody.invalid:7",
	} {
		t.Run(url, func(t *testing.T) {
			_, err := Open(t.Context(), url, nil)
			require.ErrorIs(t, err, ErrUnreachable)
			require.ErrorContains(t, err, "no server answers at "+addr)
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
	t.Run("memcache name", func(t *testing.T) {
		_, err := Open(t.Context(), "memcache://nobody.invalid", nil)
		require.ErrorIs(t, err, ErrUnreachable)
	})
}

// listen answers every connection by serve, until the test ends.
func listen(t *testing.T, serve func(conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// A server that listens and says nothing is not reached either; the context's deadline
// counts where it comes first.
func TestSilence(t *testing.T) {
	addr := listen(t, func(conn net.Conn) { _, _ = bufio.NewReader(conn).ReadString(0) })
	for _, url := range []string{"redis://" + addr, "memcache://" + addr} {
		ctx, cancel := context.WithTimeout(t.Context(), reachTimeout/30)
		_, err := Open(ctx, url, nil)
		cancel()
		require.ErrorIs(t, err, ErrUnreachable, url)
	}
}

func TestAnotherServer(t *testing.T) {
	addr := listen(t, func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	})
	_, err := Open(t.Context(), "memcache://"+addr, nil)
	require.ErrorContains(t, err, `refuses: it answers "HTTP/1.1 400 Bad Request" to "stats"`)
	_, err = Open(t.Context(), "redis://"+addr, nil)
	require.ErrorIs(t, err, ErrUnreachable)
}

func TestWrongPassword(t *testing.T) {
	s, err := server.StartRedis(context.Background(), &server.RedisOptions{Password: "right-s3cret"})
	servertest.Adopt(t, s, err)
	for url, want := range map[string]string{
		"redis://:wrong-s3cret@" + s.Addr:         "WRONGPASS",
		"redis://nobody:wrong-s3cret@" + s.Addr:   "WRONGPASS",
		"redis://" + s.Addr:                       "NOAUTH",
		"redis+cluster://:wrong-s3cret@" + s.Addr: "WRONGPASS",
	} {
		_, err := Open(t.Context(), url, nil)
		require.ErrorContains(t, err, want, url)
		require.NotErrorIs(t, err, ErrUnreachable, url)
		require.NotContains(t, err.Error(), "s3cret")
	}

	b := open(t, "redis://:right-s3cret@"+s.Addr+"/1", nil)
	require.Equal(t, "redis://"+s.Addr+"/1", b.Name)
	url, err := b.At("127.0.0.1:1")
	require.NoError(t, err)
	require.Equal(t, "redis://:right-s3cret@127.0.0.1:1/1", url)
	_, err = b.At("nowhere")
	require.ErrorContains(t, err, `address "nowhere": want host:port`)
}

func TestServerThatDies(t *testing.T) {
	for _, c := range []struct {
		scheme string
		server *server.Server
	}{{"redis://", servertest.Redis(t)}, {"memcache://", servertest.Memcached(t)}} {
		b, err := Open(t.Context(), c.scheme+c.server.Addr, nil)
		require.NoError(t, err)
		b.Remember(b.NewPrefix() + "/k")
		require.NoError(t, c.server.Kill())
		_, err = b.Calls(t.Context())
		require.ErrorContains(t, err, "counting calls")
		require.Error(t, b.GuardMemory(t.Context()))
		require.ErrorContains(t, b.Close(), "may be left, until their TTL ends")
	}
}

// freePort returns a port on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return port
}
