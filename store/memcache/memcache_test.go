package memcache_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
)

func TestTraitsSayWhatTheTypesImplement(t *testing.T) {
	s := open(t, "127.0.0.1:11211", nil)
	require.Equal(t, store.Implemented(s), s.Traits().Capabilities)
	require.Equal(t, store.ClassSwap, s.Traits().Class())

	counter := s.CounterOnly()
	require.Equal(t, store.Implemented(counter), counter.Traits().Capabilities)
	require.Equal(t, store.ClassCounter, counter.Traits().Class())

	traits := s.Traits()
	require.Equal(t, traits, s.Traits(), "constant")
	longest := traits.MaxTTL
	require.Greater(t, longest, 10*365*24*time.Hour)
	require.Less(t, longest, time.Until(time.Unix(math.MaxInt32, 0)))
	traits.MaxTTL = 0
	require.Equal(t, store.Traits{
		Name: "memcache", Capabilities: store.CapCounter | store.CapSwap | store.CapFootprint, Clock: store.CallerClock,
		TTLGrain: time.Second, MaxKey: 250, MaxValue: 1<<20 - 309, MaxCounter: math.MaxInt64, Evicts: true,
	}, traits)
}

func TestOpenChecksItsArguments(t *testing.T) {
	for _, c := range []struct {
		servers []string
		opts    *memcache.Options
		want    string
	}{
		{nil, nil, "memcache: servers: want at least one host:port"},
		{[]string{"localhost:1", ""}, nil, `memcache: server "": want host:port`},
		{[]string{"localhost"}, nil, `memcache: server "localhost": want host:port`},
		{[]string{":11211"}, nil, `memcache: server ":11211": want host:port`},
		{[]string{"localhost:0"}, nil, `memcache: server "localhost:0": want host:port`},
		{[]string{"localhost:65536"}, nil, `memcache: server "localhost:65536": want host:port`},
		{[]string{"localhost:http"}, nil, `memcache: server "localhost:http": want host:port`},
		{[]string{"localhost:1"}, &memcache.Options{Timeout: -1}, "memcache: Timeout -1ns: want above 0"},
		{[]string{"localhost:1"}, &memcache.Options{MaxIdleConns: -1}, "memcache: MaxIdleConns -1: want at least 1"},
	} {
		_, err := memcache.Open(c.servers, c.opts)
		require.ErrorContains(t, err, c.want)
	}
	for _, server := range []string{"localhost:11211", "127.0.0.1:1", "[::1]:65535", "/run/memcached.sock"} {
		open(t, server, nil)
	}
}

func TestNew(t *testing.T) {
	onBoth(t, func(t *testing.T, _ *memcache.Store, addr string) {
		servers := new(gomemcache.ServerList)
		require.NoError(t, servers.SetServers(addr))
		client := gomemcache.NewFromSelector(servers)
		defer client.Close()
		var dialed atomic.Int64
		client.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		s, err := memcache.New(client, servers)
		require.NoError(t, err)
		add(t, s, "k", 1, 1)
		size, err := s.Size(context.Background(), "k")
		require.NoError(t, err)
		require.Positive(t, size)
		require.Equal(t, int64(2), dialed.Load(), "the client's way to dial serves the sizes too")

		require.NoError(t, s.Close())
		require.NoError(t, client.Ping())
		require.Equal(t, int64(2), dialed.Load(), "Close left the client's connection open")
	})

	_, err := memcache.New(nil, new(gomemcache.ServerList))
	require.ErrorContains(t, err, "memcache: client is nil")
	_, err = memcache.New(gomemcache.New("localhost:1"), nil)
	require.ErrorContains(t, err, "memcache: selector is nil")
	s, err := memcache.New(gomemcache.New(), new(gomemcache.ServerList))
	require.NoError(t, err)
	_, err = s.Add(context.Background(), "k", 1, ttl)
	require.ErrorIs(t, err, gomemcache.ErrNoServers)
}

// calls are all methods that ask a server.
func calls(s *memcache.Store) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"add":       func(ctx context.Context) error { _, err := s.Add(ctx, "k", 1, ttl); return err },
		"give back": func(ctx context.Context) error { _, err := s.Add(ctx, "k", -1, ttl); return err },
		"read":      func(ctx context.Context) error { _, err := s.Read(ctx, "k"); return err },
		"read two":  func(ctx context.Context) error { _, err := s.Read(ctx, "k", "l"); return err },
		"load":      func(ctx context.Context) error { _, _, err := s.Load(ctx, "k"); return err },
		"create":    func(ctx context.Context) error { _, err := s.Swap(ctx, "k", "", nil, ttl); return err },
		"swap":      func(ctx context.Context) error { _, err := s.Swap(ctx, "k", "12345678", nil, ttl); return err },
		"delete":    func(ctx context.Context) error { return s.Delete(ctx, "k") },
		"size":      func(ctx context.Context) error { _, err := s.Size(ctx, "k"); return err },
	}
}

func TestClose(t *testing.T) {
	server := startFake(t, nil)
	s := open(t, server.Addr(), nil)
	add(t, s, "k", 1, 1)
	counter := s.CounterOnly()
	add(t, counter, "k", 1, 2)
	require.NoError(t, counter.Close())
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	for name, call := range calls(s) {
		require.ErrorIs(t, call(context.Background()), store.ErrClosed, name)
	}
	require.Equal(t, "memcache", s.Traits().Name)
	require.Eventually(t, func() bool { return server.Stats().CurrConnections == 0 }, time.Minute, time.Millisecond,
		"no connection is left")
}

func TestCloseDuringACallLeavesNoConnection(t *testing.T) {
	arrived, proceed, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	addr := listen(t, func(conn net.Conn) {
		defer close(ended)
		buf := make([]byte, 100)
		_, _ = conn.Read(buf)
		close(arrived)
		<-proceed
		_, _ = conn.Write([]byte("5\r\n"))
		_, err := conn.Read(buf)
		if err == nil {
			t.Error("a command after Close")
		}
	})
	s := open(t, addr, patient)
	result := make(chan error, 1)
	go func() { _, err := s.Add(context.Background(), "k", 1, ttl); result <- err }()
	<-arrived
	require.NoError(t, s.Close())
	close(proceed)
	require.NoError(t, <-result, "a call under way ends as it would have")
	<-ended
}

func TestSeveralServers(t *testing.T) {
	first, second := startFake(t, nil), startFake(t, nil)
	s, err := memcache.Open([]string{first.Addr(), second.Addr()}, nil)
	require.NoError(t, err)
	defer s.Close()
	var keys []string
	var want []int64
	for i := range 40 {
		keys = append(keys, fmt.Sprintf("key %d", i))
		want = append(want, int64(i+1))
		add(t, s, keys[i], want[i], want[i])
		size, err := s.Size(context.Background(), keys[i])
		require.NoError(t, err)
		require.Positive(t, size)
	}
	require.Positive(t, first.Stats().CurrItems)
	require.Positive(t, second.Stats().CurrItems)
	require.Equal(t, 40, first.Stats().CurrItems+second.Stats().CurrItems)
	require.Equal(t, want, read(t, s, keys...))

	require.NoError(t, s.Delete(context.Background(), keys...))
	require.Zero(t, first.Stats().CurrItems+second.Stats().CurrItems)

	require.NoError(t, second.Close())
	_, err = s.Read(context.Background(), keys...)
	require.Error(t, err, "half an answer is none")
	require.False(t, errors.Is(err, store.ErrClosed))
}
