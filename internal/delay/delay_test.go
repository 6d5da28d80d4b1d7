package delay_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/delay"
)

// serve listens on loopback and runs handle for each connection, which it closes afterwards.
func serve(t *testing.T, handle func(*net.TCPConn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				handle(c.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func echo(c *net.TCPConn) { _, _ = io.Copy(c, c) }

func start(t *testing.T, target string, latency time.Duration) *delay.Proxy {
	t.Helper()
	p, err := delay.Start(target, latency)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func dial(t *testing.T, p *delay.Proxy) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	return c.(*net.TCPConn)
}

func TestDelaysBothDirections(t *testing.T) {
	const latency = 30 * time.Millisecond
	c := dial(t, start(t, serve(t, echo), latency))
	buf := make([]byte, 4)
	for range 3 {
		sent := time.Now()
		_, err := io.WriteString(c, "ping")
		require.NoError(t, err)
		_, err = io.ReadFull(c, buf)
		require.NoError(t, err)
		require.Equal(t, "ping", string(buf))
		require.GreaterOrEqual(t, time.Since(sent), 2*latency)
	}
}

func TestKeepsOrderAndHalfClose(t *testing.T) {
	const seed = 7
	sent := make([]byte, 8<<20)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(sent)

	// The target answers only after the client's end, so that the answer needs the half-closed connection.
	p := start(t, serve(t, func(c *net.TCPConn) {
		all, err := io.ReadAll(c)
		if err == nil {
			_, _ = c.Write(all)
		}
	}), 5*time.Millisecond)
	c := dial(t, p)
	_, err := c.Write(sent)
	require.NoError(t, err)
	require.NoError(t, c.CloseWrite())
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent, got), "the answer differs from what was sent")
}

func TestTargetMayEndFirst(t *testing.T) {
	received := make(chan string, 1)
	p := start(t, serve(t, func(c *net.TCPConn) {
		_, _ = io.WriteString(c, "bye")
		_ = c.CloseWrite()
		all, _ := io.ReadAll(c)
		received <- string(all)
	}), time.Millisecond)
	c := dial(t, p)
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "bye", string(got))
	_, err = io.WriteString(c, "still here")
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.Equal(t, "still here", <-received)
}

func TestBrokenConnectionBreaksTheOtherSide(t *testing.T) {
	p := start(t, serve(t, func(c *net.TCPConn) {
		_, _ = io.ReadFull(c, make([]byte, 1))
		_ = c.SetLinger(0) // closing resets
	}), time.Millisecond)
	c := dial(t, p)
	_, err := io.WriteString(c, "x")
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, io.EOF, "a reset is not an orderly end")
}

func TestRefusingTarget(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	c := dial(t, start(t, l.Addr().String(), 0))
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
}

func TestManyConnections(t *testing.T) {
	p := start(t, serve(t, echo), time.Millisecond)
	var wg sync.WaitGroup
	for i := range 50 {
		c := dial(t, p)
		wg.Go(func() {
			sent := bytes.Repeat([]byte{byte(i)}, 10_000)
			got := make([]byte, len(sent))
			_, err := c.Write(sent)
			if err == nil {
				_, err = io.ReadFull(c, got)
			}
			if err != nil || !bytes.Equal(sent, got) {
				t.Errorf("connection %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

func TestCloseLeavesNothing(t *testing.T) {
	target := serve(t, echo)
	p := start(t, target, time.Hour) // everything is still under way when it closes
	var conns []*net.TCPConn
	for range 5 {
		c := dial(t, p)
		_, err := io.WriteString(c, "on its way")
		require.NoError(t, err)
		conns = append(conns, c)
	}
	require.Positive(t, running())

	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, p.Close(), "a closed proxy may be closed again")
	require.Eventually(t, func() bool { return running() == 0 }, 10*time.Second, time.Millisecond)
	for _, c := range conns {
		_, err := c.Read(make([]byte, 1))
		require.Error(t, err)
	}
	_, err := net.Dial("tcp", p.Addr())
	require.Error(t, err)
}

// running counts the goroutines that run the proxy's code.
func running() (n int) {
	buf := make([]byte, 1<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "internal/delay.(*") {
			n++
		}
	}
	return n
}

func TestInvalidArguments(t *testing.T) {
	_, err := delay.Start("localhost", time.Second)
	require.ErrorContains(t, err, `delay: target "localhost": must be host:port`)
	_, err = delay.Start("localhost:1", -time.Second)
	require.EqualError(t, err, "delay: latency -1s: must be zero or more")
}
