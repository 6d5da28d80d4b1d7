package memcachetest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store/memcache/memcachetest"
)

func start(t *testing.T, opts *memcachetest.Options) *memcachetest.Server {
	t.Helper()
	server, err := memcachetest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

func dial(t *testing.T, server *memcachetest.Server) *gomemcache.Client {
	t.Helper()
	client := gomemcache.New(server.Addr())
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestClient(t *testing.T) {
	clock := memcachetest.NewClock(time.Unix(1_800_000_000, 0))
	server := start(t, &memcachetest.Options{Now: clock.Now})
	client := dial(t, server)

	require.NoError(t, client.Ping())
	_, err := client.Get("a")
	require.ErrorIs(t, err, gomemcache.ErrCacheMiss)
	require.NoError(t, client.Set(&gomemcache.Item{Key: "a", Value: []byte("1\r\n\x00"), Flags: 7}))
	got, err := client.Get("a")
	require.NoError(t, err)
	require.Equal(t, "1\r\n\x00", string(got.Value))
	require.EqualValues(t, 7, got.Flags)

	require.ErrorIs(t, client.Add(&gomemcache.Item{Key: "a", Value: []byte("2")}), gomemcache.ErrNotStored)
	require.NoError(t, client.Add(&gomemcache.Item{Key: "b", Value: []byte("2")}))
	items, err := client.GetMulti([]string{"a", "b", "c"})
	require.NoError(t, err)
	require.Len(t, items, 2)
	require.Equal(t, "2", string(items["b"].Value))

	got.Value = []byte("10")
	require.NoError(t, client.CompareAndSwap(got))
	require.ErrorIs(t, client.CompareAndSwap(got), gomemcache.ErrCASConflict)
	require.NoError(t, client.Delete("a"))
	require.ErrorIs(t, client.CompareAndSwap(got), gomemcache.ErrCacheMiss)
	require.ErrorIs(t, client.Delete("a"), gomemcache.ErrCacheMiss)

	n, err := client.Increment("b", 40)
	require.NoError(t, err)
	require.EqualValues(t, 42, n)
	n, err = client.Decrement("b", 100)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = client.Increment("a", 1)
	require.ErrorIs(t, err, gomemcache.ErrCacheMiss)

	require.NoError(t, client.Touch("b", 10))
	require.ErrorIs(t, client.Touch("a", 10), gomemcache.ErrCacheMiss)
	clock.Advance(10 * time.Second)
	_, err = client.Get("b")
	require.ErrorIs(t, err, gomemcache.ErrCacheMiss)

	stats := server.Stats()
	require.EqualValues(t, 1, stats.GetExpired)
	require.EqualValues(t, 1, stats.CasHits)
	require.EqualValues(t, 1, stats.CasBadval)
	require.EqualValues(t, 1, stats.CasMisses)
	require.EqualValues(t, 1, stats.IncrHits)
	require.EqualValues(t, 1, stats.TouchHits)
	require.Zero(t, stats.CurrItems)
	require.Zero(t, stats.Bytes)
	require.Equal(t, 1, stats.CurrConnections)
}

// Commands of many clients are atomic: no increment is lost, and of those that hold the same unique one wins.
func TestAtomic(t *testing.T) {
	server := start(t, nil)
	setup := dial(t, server)
	require.NoError(t, setup.Set(&gomemcache.Item{Key: "count", Value: []byte("0")}))
	require.NoError(t, setup.Set(&gomemcache.Item{Key: "swapped", Value: nil}))
	const clients, each = 8, 50
	var wg sync.WaitGroup
	errs := make(chan error, clients)
	for range clients {
		wg.Go(func() {
			client := gomemcache.New(server.Addr())
			defer client.Close()
			for range each {
				if _, err := client.Increment("count", 1); err != nil {
					errs <- err
					return
				}
				for {
					it, err := client.Get("swapped")
					if err == nil {
						it.Value = append(it.Value, 'x')
						err = client.CompareAndSwap(it)
					}
					if err == nil {
						break
					}
					if !errors.Is(err, gomemcache.ErrCASConflict) {
						errs <- err
						return
					}
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	require.NoError(t, <-errs)
	count, err := setup.Get("count")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(clients*each), string(count.Value))
	swapped, err := setup.Get("swapped")
	require.NoError(t, err)
	require.Len(t, swapped.Value, clients*each)
}

func TestEviction(t *testing.T) {
	t.Run("by number", func(t *testing.T) {
		server := start(t, &memcachetest.Options{MaxItems: 3})
		client := dial(t, server)
		for _, key := range []string{"a", "b", "c"} {
			require.NoError(t, client.Set(&gomemcache.Item{Key: key}))
		}
		_, err := client.Get("a")
		require.NoError(t, err)
		require.NoError(t, client.Set(&gomemcache.Item{Key: "d"}))
		left, err := client.GetMulti([]string{"a", "b", "c", "d"})
		require.NoError(t, err)
		require.NotContains(t, left, "b", "the least recently used item goes first")
		require.Len(t, left, 3)
		require.EqualValues(t, 1, server.Stats().Evictions)
	})
	t.Run("by bytes", func(t *testing.T) {
		server := start(t, &memcachetest.Options{MaxItemSize: 1024, MaxBytes: 10_000})
		client := dial(t, server)
		for i := range 1000 {
			require.NoError(t, client.Set(&gomemcache.Item{Key: fmt.Sprint(i), Value: make([]byte, i%900)}))
		}
		stats := server.Stats()
		require.LessOrEqual(t, stats.Bytes, 10_000)
		require.EqualValues(t, 1000-stats.CurrItems, stats.Evictions)
		require.Error(t, client.Set(&gomemcache.Item{Key: "a", Value: make([]byte, 1024)}))
		require.EqualValues(t, 1, server.Stats().StoreTooLarge)
	})
	t.Run("an expired item is not counted", func(t *testing.T) {
		server := start(t, &memcachetest.Options{MaxItems: 1})
		client := dial(t, server)
		require.NoError(t, client.Set(&gomemcache.Item{Key: "a", Expiration: -1}))
		require.NoError(t, client.Set(&gomemcache.Item{Key: "b"}))
		require.Zero(t, server.Stats().Evictions)
	})
}

func TestStatsCommand(t *testing.T) {
	clock := memcachetest.NewClock(time.Unix(1_800_000_000, 900_000_000))
	server := start(t, &memcachetest.Options{Now: clock.Now})
	clock.Advance(100 * time.Millisecond)
	conn, err := net.Dial("tcp", server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "stats\r\nversion\r\nquit\r\n")
	require.NoError(t, err)
	all, err := io.ReadAll(conn)
	require.NoError(t, err)
	for _, line := range []string{"uptime 1", "time 1800000001", "version " + memcachetest.Version, "curr_connections 1", "total_connections 1"} {
		require.Contains(t, string(all), "STAT "+line+"\r\n")
	}
	require.True(t, strings.HasSuffix(string(all), "END\r\nVERSION "+memcachetest.Version+"\r\n"))
}

func TestBinaryProtocolIsRefused(t *testing.T) {
	server := start(t, nil)
	conn, err := net.Dial("tcp", server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte{0x80, '\n'})
	require.NoError(t, err)
	_, err = bufio.NewReader(conn).ReadByte()
	require.Error(t, err)
}

func TestOptions(t *testing.T) {
	for field, opts := range map[string]memcachetest.Options{
		"MaxItemSize":               {MaxItemSize: 1023},
		"MaxItemSize is 1073741825": {MaxItemSize: 1<<30 + 1},
		"MaxBytes":                  {MaxBytes: 1<<20 - 1},
		"MaxBytes is -1":            {MaxBytes: -1},
		"MaxItems":                  {MaxItems: -1},
	} {
		_, err := memcachetest.Start(&opts)
		require.ErrorContains(t, err, "memcachetest: "+field)
	}
}

// Close ends connections that are idle, in the middle of a command or stuck in an answer, and no goroutine outlives it.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	server, err := memcachetest.Start(nil)
	require.NoError(t, err)
	addr := server.Addr()
	for i := range 1000 {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		if i%2 == 0 {
			_, err = io.WriteString(conn, "version\r\n")
			require.NoError(t, err)
			_, err = bufio.NewReader(conn).ReadString('\n')
			require.NoError(t, err)
		}
		require.NoError(t, conn.Close())
	}

	for _, said := range []string{"", "get", "set a 0 0 100\r\nhalf", "set a 0 0 1000000\r\n" + strings.Repeat("x", 1_000_000) + "\r\n" + strings.Repeat("get a\r\n", 100)} {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, said)
		require.NoError(t, err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { _ = server.Close() })
	}
	wg.Wait()
	require.NoError(t, server.Close())
	require.Zero(t, server.Stats().CurrConnections)
	_, err = net.Dial("tcp", addr)
	require.Error(t, err)
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 5*time.Second, time.Millisecond,
		"goroutines are left") // one more is Eventually's own
}
