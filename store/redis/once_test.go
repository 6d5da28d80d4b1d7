package redis

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
)

// lossy is a way to a server on which the next reply gets lost, once it is armed, and
// the connection with it: the server did what it was told, and nobody knows.
type lossy struct {
	addr  string
	armed atomic.Bool
}

func newLossy(t *testing.T, backend string) *lossy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	p := &lossy{addr: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", backend)
			if err != nil {
				client.Close()
				return
			}
			go func() {
				_, _ = io.Copy(server, client)
				_ = server.(*net.TCPConn).CloseWrite() // it still carries out what it has
			}()
			go p.reply(client, server)
		}
	}()
	return p
}

func (p *lossy) reply(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		if p.armed.CompareAndSwap(true, false) {
			client.Close()
			_, _ = io.Copy(io.Discard, server)
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// eager are clients that repeat whatever they may.
func eager(t *testing.T, addr string) map[string]goredis.UniversalClient {
	single := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: 5})
	cluster := goredis.NewClusterClient(&goredis.ClusterOptions{
		MaxRedirects: 5, MaxRetries: 5,
		ClusterSlots: func(context.Context) ([]goredis.ClusterSlot, error) {
			return []goredis.ClusterSlot{{Start: 0, End: slots - 1, Nodes: []goredis.ClusterNode{{Addr: addr}}}}, nil
		},
	})
	ring := goredis.NewRing(&goredis.RingOptions{Addrs: map[string]string{"one": addr}, MaxRetries: 5})
	opened, err := Open("redis://"+addr, nil)
	require.NoError(t, err)
	all := map[string]goredis.UniversalClient{"single": single, "cluster": cluster, "ring": ring, "opened": opened.client}
	for _, c := range all {
		t.Cleanup(func() { c.Close() })
	}
	return all
}

// A write whose reply is lost is an error, and happened once.
func TestNothingIsSentTwice(t *testing.T) {
	mini := miniredis.RunT(t)
	way := newLossy(t, mini.Addr())
	clients := eager(t, way.addr)

	t.Run("the library alone repeats", func(t *testing.T) {
		client := clients["single"]
		require.NoError(t, client.Ping(t.Context()).Err())
		way.armed.Store(true)
		require.NoError(t, client.Incr(t.Context(), "library").Err())
		got, err := mini.Get("library")
		require.NoError(t, err)
		require.Equal(t, "2", got, "else this test proves nothing")
	})

	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			s := New(client, nil)
			value, keyed := s.prepare(quota["value"], ""), s.prepare(quota["keyed"], "")
			apart := func(key string) []asked { // two scripts, so a pipeline
				return []asked{{key, store.Args{Now: 1, Cost: 1, Params: []int64{10}}}, {key, store.Args{Now: 2, Cost: 1, Params: []int64{10}}}}
			}
			counts := func(key string) string { v, _ := mini.Get(key); return v }
			length := func(key string) string { v, _ := mini.List(key); return strconv.Itoa(len(v)) }
			writes := map[string]struct {
				write func(ctx context.Context, key string) error
				left  func(key string) string
				want  string
			}{
				"add":   {func(ctx context.Context, k string) error { _, err := s.Add(ctx, k, 1, time.Minute); return err }, counts, "1"},
				"push":  {func(ctx context.Context, k string) error { _, err := s.PushFront(ctx, k, time.Minute, "v"); return err }, length, "1"},
				"value": {func(ctx context.Context, k string) error { _, err := value.Run(ctx, k, quotaArgs(1)); return err }, counts, "1"},
				"keyed": {func(ctx context.Context, k string) error { _, err := keyed.Run(ctx, k, quotaArgs(1)); return err }, counts, "1"},
				"pipeline": {func(ctx context.Context, k string) error {
					_, errs := value.decide(ctx, apart(k))
					return errs[0]
				}, counts, "2"},
			}
			for what, w := range writes {
				t.Run(what, func(t *testing.T) {
					key := name + what
					// Known scripts and open connections, so that it is the reply that is lost.
					require.NoError(t, w.write(t.Context(), "warm"+key))
					way.armed.Store(true)
					require.Error(t, w.write(t.Context(), key))
					require.False(t, way.armed.Load())
					require.Eventually(t, func() bool { return w.left(key) == w.want }, 10*time.Second, time.Millisecond,
						"the rest of a pipeline may still be under way")
				})
			}
		})
	}
}

// silent takes connections and says nothing.
func silent(t *testing.T) string {
	return talking(t, func(net.Conn) { <-t.Context().Done() })
}

// talking takes connections, on each of which talk talks, and closes it.
func talking(t *testing.T, talk func(net.Conn)) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				talk(c)
			}()
		}
	}()
	return l.Addr().String()
}

// A call returns at its deadline although the client would wait for an hour.
func TestDeadline(t *testing.T) {
	addr := silent(t)
	opened, err := Open("redis://"+addr+"?read_timeout=1h&write_timeout=1h&dial_timeout=1h", nil)
	require.NoError(t, err)
	defer opened.Close()
	deaf := goredis.NewClient(&goredis.Options{Addr: addr, ReadTimeout: time.Hour, WriteTimeout: time.Hour, DialTimeout: time.Hour})
	defer deaf.Close()
	require.False(t, opened.deaf)
	require.True(t, New(deaf, nil).deaf)
	for name, s := range map[string]*Store{"opened": opened, "deaf": New(deaf, nil)} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := s.prepare(quota["value"], "").Run(ctx, "k", quotaArgs(1))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "redis: quota: ")
			ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err = s.Read(ctx, "a", "b")
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}
