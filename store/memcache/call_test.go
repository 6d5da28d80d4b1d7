package memcache_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
)

func TestContextAlreadyDone(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		s := open(t, inOrder(t), patient)
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
		defer cancel()
		for name, call := range calls(s) {
			require.ErrorIs(t, call(cancelled), context.Canceled, name)
			require.ErrorIs(t, call(late), context.DeadlineExceeded, name)
			require.ErrorContains(t, call(late), "memcache: ", name)
		}
	})
}

func TestContextEndsDuringTheCall(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		arrived := make(chan struct{})
		addr := listen(t, func(conn net.Conn) {
			for { // reads all, answers nothing
				if _, err := conn.Read(make([]byte, 100)); err != nil {
					return
				}
				arrived <- struct{}{}
			}
		})
		s := open(t, addr, &memcache.Options{Timeout: time.Hour})
		for name, call := range calls(s) {
			ctx, cancel := context.WithCancel(context.Background())
			result := make(chan error, 1)
			go func() { result <- call(ctx) }()
			<-arrived
			cancel()
			require.ErrorIs(t, <-result, context.Canceled, name)
		}
	})
}

func TestAbandonedCallsEnd(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		before := runtime.NumGoroutine()
		conns := make(chan net.Conn, 100)
		addr := listen(t, func(conn net.Conn) { conns <- conn })
		s := open(t, addr, &memcache.Options{Timeout: time.Hour})
		var held []net.Conn
		for range 50 {
			ctx, cancel := context.WithCancel(context.Background())
			result := make(chan error, 1)
			go func() { _, err := s.Add(ctx, "k", 1, ttl); result <- err }()
			held = append(held, <-conns)
			cancel()
			require.ErrorIs(t, <-result, context.Canceled)
		}
		for _, conn := range held {
			require.NoError(t, conn.Close())
		}
		// The listener keeps one goroutine for each of its 50 connections; 50 calls would be as many again.
		require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+75 }, time.Minute, time.Millisecond)
	})
}

// gatedConn sends nothing before its gate is open.
type gatedConn struct {
	net.Conn
	arrived chan<- struct{}
	gate    <-chan struct{}
}

func (c gatedConn) Write(p []byte) (int, error) {
	c.arrived <- struct{}{}
	<-c.gate
	return c.Conn.Write(p)
}

func TestAbandonedSwapDoesNotKeepTheValue(t *testing.T) {
	const size = 100_000
	arrived, gate, sent := make(chan struct{}, 100), make(chan struct{}), make(chan string, 1)
	addr := listen(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		_, _ = in.ReadString('\n')
		body := make([]byte, size)
		_, _ = io.ReadFull(in, body)
		sent <- string(body)
	})
	s := brought(t, addr, &memcache.Options{
		Timeout: time.Minute,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return gatedConn{conn, arrived, gate}, err
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	value, result := filled(size), make(chan error, 1)
	go func() { _, err := s.Swap(ctx, "k", "", value, ttl); result <- err }()
	<-arrived
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	clear(value)
	close(gate)
	require.True(t, string(filled(size)) == <-sent, "the value was read after the return")
}

func TestAbandonedAdditionIsNotContinued(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		ctx, cancel := context.WithCancel(context.Background())
		var commands atomic.Int64
		addr := scripted(t, func(string) string {
			commands.Add(1)
			cancel()
			return "NOT_FOUND\r\n"
		})
		s := open(t, addr, patient)
		_, err := s.Add(ctx, "k", 1, ttl)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, int64(1), commands.Load())
	})
}

func TestHungServerEndsByTimeout(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		addr := listen(t, func(net.Conn) {})
		s := open(t, addr, &memcache.Options{Timeout: 20 * time.Millisecond})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for name, call := range calls(s) {
			for _, ctx := range []context.Context{context.Background(), ctx} {
				err := call(ctx)
				requireTimeout(t, err)
				require.ErrorContains(t, err, "memcache: ", name)
			}
		}
	})
}

func requireTimeout(t *testing.T, err error) {
	t.Helper()
	var dial *gomemcache.ConnectTimeoutError // on a busy machine
	if errors.As(err, &dial) {
		return
	}
	var other net.Error
	require.ErrorAs(t, err, &other)
	require.True(t, other.Timeout(), "%v", err)
}

func TestRefusedConnection(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		addr := listener.Addr().String()
		require.NoError(t, listener.Close())
		s := open(t, addr, patient)
		for name, call := range calls(s) {
			err := call(context.Background())
			var op *net.OpError
			require.ErrorAs(t, err, &op, name)
			require.Equal(t, "dial", op.Op)
		}
	})
}

func TestServerErrors(t *testing.T) {
	for _, c := range []struct {
		reply string
		call  string
		want  error
	}{
		{"SERVER_ERROR out of memory storing object", "create", store.ErrFull},
		{"SERVER_ERROR out of memory storing object", "create", gomemcache.ErrServerError},
		{"SERVER_ERROR out of memory in incr", "add", store.ErrFull},
		{"SERVER_ERROR backend lost", "add", gomemcache.ErrServerError},
		{"SERVER_ERROR backend lost", "give back", gomemcache.ErrServerError},
		{"SERVER_ERROR backend lost", "read", gomemcache.ErrServerError},
		{"SERVER_ERROR backend lost", "read two", gomemcache.ErrServerError},
		{"SERVER_ERROR backend lost", "load", gomemcache.ErrServerError},
		{"SERVER_ERROR backend lost", "swap", gomemcache.ErrServerError},
		{"SERVER_ERROR backend lost", "delete", gomemcache.ErrServerError},
		{"ERROR Too many open connections", "add", gomemcache.ErrServerError},
		{"ERROR Too many open connections", "load", gomemcache.ErrServerError},
		{"ERROR Too many open connections", "swap", gomemcache.ErrServerError},
		{"HTTP/1.1 400 Bad Request", "add", store.ErrGarbled},
		{"HTTP/1.1 400 Bad Request", "read", store.ErrGarbled},
		{"HTTP/1.1 400 Bad Request", "create", store.ErrGarbled},
		{"HTTP/1.1 400 Bad Request", "delete", store.ErrGarbled},
		{"18446744073709551616", "add", store.ErrGarbled},
		{"VALUE other 0 1 1\r\n5\r\nEND", "read", store.ErrGarbled},
		{"VALUE other 0 1 1\r\n5\r\nEND", "load", store.ErrGarbled},
		{"VALUE k 0 1 1\r\n555\r\nEND", "load", store.ErrGarbled},
	} {
		s := open(t, scripted(t, func(string) string { return c.reply + "\r\n" }), patient)
		err := calls(s)[c.call](context.Background())
		require.ErrorIs(t, err, c.want, "%s: %s", c.call, c.reply)
	}
}

// The client panics on these, and keeps the connection with what follows.
func TestAReplyTooShortIsAnErrorAndItsRestIsNotRead(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		for _, reply := range []string{"\n777\r\n", "CLIENT_ERROR \n777\r\n"} {
			first := true
			addr := scripted(t, func(string) string {
				if first {
					first = false
					return reply
				}
				return "6\r\n"
			})
			s := open(t, addr, patient)
			_, err := s.Add(context.Background(), "k", 1, ttl)
			require.ErrorIs(t, err, store.ErrGarbled)
			add(t, s, "k", 1, 6)
		}
	})
}

// A restarted server costs one failed call, not one for each idle connection, and no
// write is sent twice.
func TestRestartedServerCostsOneCall(t *testing.T) {
	const idle = 8
	var commands, generation atomic.Int64
	all := make(chan struct{})
	addr := listen(t, func(conn net.Conn) {
		defer conn.Close()
		mine := generation.Load()
		for in := bufio.NewScanner(conn); in.Scan(); {
			if commands.Add(1) == idle {
				close(all)
			}
			<-all // so that each call has a connection of its own
			if generation.Load() != mine {
				return
			}
			_, _ = io.WriteString(conn, "1\r\n")
		}
	})
	s := open(t, addr, patient)
	results := make(chan error, idle)
	for range idle {
		go func() { _, err := s.Add(context.Background(), "k", 1, ttl); results <- err }()
	}
	for range idle {
		require.NoError(t, <-results)
	}
	generation.Add(1)
	_, err := s.Add(context.Background(), "k", 1, ttl)
	require.ErrorIs(t, err, io.EOF)
	for range idle {
		add(t, s, "k", 1, 1)
	}
	require.Equal(t, int64(idle+1+idle), commands.Load())
}

func BenchmarkAdd(b *testing.B) {
	addr := startFake(b, nil).Addr()
	ending, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		name  string
		store *memcache.Store
		ctx   context.Context
	}{
		{"Open", open(b, addr, nil), context.Background()},
		{"Open, context can end", open(b, addr, nil), ending},
		{"New", brought(b, addr, patient), context.Background()},
		{"New, context can end", brought(b, addr, patient), ending},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.store.Add(c.ctx, "k", 1, ttl); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
