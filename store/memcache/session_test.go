package memcache_test

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store/memcache"
)

func TestConnectionsAreReused(t *testing.T) {
	const callers = 64
	server := startFake(t, nil)
	s := open(t, server.Addr(), nil)
	for range 5 {
		var work sync.WaitGroup
		for range callers {
			work.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				if _, err := s.Add(ctx, "k", 1, ttl); err != nil {
					t.Errorf("Add: %v", err)
				}
				cancel() // after the call, so it must not close the connection
			})
		}
		work.Wait()
	}
	require.Equal(t, []int64{5 * callers}, read(t, s, "k"))
	require.LessOrEqual(t, server.Stats().TotalConnections, uint64(callers))
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	var connected, closed atomic.Int64
	all := make(chan struct{})
	addr := listen(t, func(conn net.Conn) {
		if connected.Add(1) == 8 {
			close(all)
		}
		buf := make([]byte, 100)
		for {
			if _, err := conn.Read(buf); err != nil {
				closed.Add(1)
				return
			}
			<-all
			_, _ = conn.Write([]byte("1\r\n"))
		}
	})
	s := open(t, addr, &memcache.Options{Timeout: time.Minute, MaxIdleConns: 2})
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			if _, err := s.Add(context.Background(), "k", 1, ttl); err != nil {
				t.Errorf("Add: %v", err)
			}
		})
	}
	work.Wait()
	require.Eventually(t, func() bool { return closed.Load() == 6 }, time.Minute, time.Millisecond)
	add(t, s, "k", 1, 1)
	require.Equal(t, int64(8), connected.Load())
}

func TestDeadlineEndsTheCall(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		s := open(t, listen(t, func(net.Conn) {}), &memcache.Options{Timeout: time.Hour})
		for name, call := range calls(s) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			require.ErrorIs(t, call(ctx), context.DeadlineExceeded, name)
			cancel()
		}
	})
}

func TestContextEndsTheDial(t *testing.T) {
	dialing := make(chan struct{})
	s := open(t, "127.0.0.1:1", &memcache.Options{
		Timeout: time.Hour,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialing <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-dialing
		cancel()
	}()
	_, err := s.Add(ctx, "k", 1, ttl)
	require.ErrorIs(t, err, context.Canceled)
}

// A dialer that ignores its context brings a connection that nobody needs any more.
func TestAConnectionThatComesTooLateIsClosed(t *testing.T) {
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	s := open(t, "127.0.0.1:1", &memcache.Options{
		Timeout: time.Hour,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			cancel()
			return ours, nil
		},
	})
	_, err := s.Add(ctx, "k", 1, ttl)
	require.ErrorIs(t, err, context.Canceled)
	_ = theirs.SetDeadline(time.Now().Add(time.Minute))
	_, err = theirs.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "closed")
}

func TestAServerListedTwiceKeepsItsConnections(t *testing.T) {
	server := startFake(t, nil)
	s, err := memcache.Open([]string{server.Addr(), server.Addr()}, patient)
	require.NoError(t, err)
	defer s.Close()
	for range 20 {
		require.Equal(t, make([]int64, 6), read(t, s, "a", "b", "c", "d", "e", "f"))
	}
	require.LessOrEqual(t, server.Stats().TotalConnections, uint64(2))
}
