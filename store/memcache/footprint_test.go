package memcache_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
)

// chunkBytes sums the chunks that a server has in use.
func chunkBytes(t *testing.T, addr string) (total int64) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, "stats slabs\r\n")
	require.NoError(t, err)
	size := make(map[string]int64)
	for in := bufio.NewScanner(conn); in.Scan() && in.Text() != "END"; {
		words := strings.Fields(in.Text())
		class, what, _ := strings.Cut(words[1], ":")
		n, _ := strconv.ParseInt(words[2], 10, 64)
		switch what {
		case "chunk_size":
			size[class] = n
		case "used_chunks":
			total += n * size[class]
		}
	}
	return total
}

func TestSizeIsWhatMemcachedTakes(t *testing.T) {
	ctx, addr := context.Background(), servertest.Memcached(t).Addr
	s, client := open(t, addr, patient), clientFor(t, addr)

	size, err := s.Size(ctx, "missing")
	require.NoError(t, err)
	require.Zero(t, size)

	// Every item stays: the chunk of a deleted one is freed at a moment that nobody is told.
	made := make(map[int]byte)
	create := func(keyLen, valueLen int, flags uint32) {
		t.Helper()
		key, value := filled(keyLen), filled(valueLen)
		key[0] = '!' + made[keyLen]
		made[keyLen]++
		before := chunkBytes(t, addr)
		require.NoError(t, client.Set(&gomemcache.Item{Key: string(key), Value: value, Flags: flags}))
		grown := chunkBytes(t, addr) - before
		for range 2 { // the second answer is a remembered one
			size, err := s.Size(ctx, string(key))
			require.NoError(t, err)
			require.Equal(t, grown, size, "key of %d bytes, value of %d, flags %d", keyLen, valueLen, flags)
		}
	}
	for _, keyLen := range []int{1, 5, 36, 37, 38, 100, 250} {
		for _, valueLen := range []int{0, 1, 8, 20, 21, 33, 34, 35, 36, 37, 100, 1000, 10_000, 100_000} {
			create(keyLen, valueLen, 0)
			create(keyLen, valueLen, 1)
		}
	}
	largest := s.Traits().MaxValue
	// Above the largest chunk (512 kB) an item is cut into several.
	for _, valueLen := range []int{
		500_000, 524_225, 524_226, 524_227, 524_228, 524_238, 524_239, 524_240, 524_286, 600_000, 1_000_000, 1_048_200, largest,
	} {
		create(1, valueLen, 0)
		create(1, valueLen, 7)
		create(246, valueLen, 0)
	}
}

// A class that was not in use when first asked for must not be overlooked later.
func TestSizeLearnsNewClasses(t *testing.T) {
	ctx, addr := context.Background(), servertest.Memcached(t).Addr
	s := open(t, addr, patient)
	for _, c := range []struct {
		value int
		want  int64
	}{{1000, 1184}, {1, 96}, {300, 384}, {100, 192}} {
		key := fmt.Sprintf("k%03d", c.value)
		_, err := s.Swap(ctx, key, "", filled(c.value), ttl)
		require.NoError(t, err)
		size, err := s.Size(ctx, key)
		require.NoError(t, err)
		require.Equal(t, c.want, size, "value of %d bytes", c.value)
	}
}

func TestSizeWithoutSlabsIsTheItemsOwn(t *testing.T) {
	server := startFake(t, nil)
	s := open(t, server.Addr(), patient)
	add(t, s, "k", 12345, 12345)
	size, err := s.Size(context.Background(), "k")
	require.NoError(t, err)
	require.Equal(t, int64(server.Stats().Bytes), size)
	require.Equal(t, int64(48+8+len("k")+1+len("12345")+2), size)
}

func TestSizeOfGarbledStatistics(t *testing.T) {
	const settings = "STAT slab_chunk_max 524288\r\nEND\r\n"
	for _, c := range []struct {
		settings, slabs string
		want            error
	}{
		{settings, "STAT 1:chunk_size many\r\nEND\r\n", store.ErrGarbled},
		{settings, "hello\r\nEND\r\n", store.ErrGarbled},
		{settings, "END\r\n", store.ErrGarbled},
		{settings, "STAT 1:chunk_size 60\r\nEND\r\n", store.ErrGarbled},
		{"STAT slab_chunk_max x\r\nEND\r\n", "END\r\n", store.ErrGarbled},
		{"STAT slab_chunk_max 48\r\nEND\r\n", "STAT 1:chunk_size 96\r\nEND\r\n", store.ErrGarbled},
		{"END\r\n", "STAT 1:chunk_size 96\r\nEND\r\n", store.ErrGarbled},
		{settings, "", io.ErrUnexpectedEOF},
	} {
		addr := scripted(t, func(line string) string {
			switch line {
			case "stats settings":
				return c.settings
			case "stats slabs":
				return c.slabs
			}
			return "VALUE k 0 1 7\r\n1\r\nEND\r\n"
		})
		_, err := open(t, addr, patient).Size(context.Background(), "k")
		require.ErrorIs(t, err, c.want, "%q", c.slabs)
	}
}

func TestSizeOfHungStatistics(t *testing.T) {
	eachClient(t, func(t *testing.T, open func(testing.TB, string, *memcache.Options) *memcache.Store) {
		asked := make(chan struct{}, 10)
		addr := listen(t, func(conn net.Conn) {
			for in := bufio.NewScanner(conn); in.Scan(); {
				if strings.HasPrefix(in.Text(), "gets") {
					_, _ = io.WriteString(conn, "VALUE k 0 1 7\r\n1\r\nEND\r\n")
				} else {
					asked <- struct{}{}
				}
			}
		})
		s := open(t, addr, &memcache.Options{Timeout: time.Hour})
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error, 1)
		go func() { _, err := s.Size(ctx, "k"); result <- err }()
		<-asked
		cancel()
		require.ErrorIs(t, <-result, context.Canceled)

		_, err := open(t, addr, &memcache.Options{Timeout: 50 * time.Millisecond}).Size(context.Background(), "k")
		requireTimeout(t, err)
	})
}
