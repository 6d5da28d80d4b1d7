package memcache_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/memcache/memcachetest"
)

const day = 24 * time.Hour

func ttls(longest time.Duration) []time.Duration {
	return []time.Duration{
		1, time.Microsecond, time.Millisecond, 500 * time.Millisecond, time.Second - 1, time.Second, time.Second + 1,
		1500 * time.Millisecond, time.Minute, time.Hour, 30*day - 2*time.Second, 30*day - time.Second, 30*day - 1, 30 * day,
		30*day + 1, 30*day + time.Second, 31 * day, 60 * day, 365 * day, 10 * 365 * day, longest,
	}
}

// RL-021, RL-023: no TTL is cut to zero, which is for ever, or read as a time in 1970.
func TestRL021RL023ATTLIsAFloorAndEndsSoonAfter(t *testing.T) {
	for _, fraction := range []time.Duration{0, 1, 400 * time.Millisecond, time.Second - 1} {
		t.Run("server's tick off by "+fraction.String(), func(t *testing.T) {
			// The server's clock and the process's differ by less than a second.
			start := time.Now().Truncate(time.Second).Add(fraction)
			clock := memcachetest.NewClock(start)
			s := open(t, startFake(t, &memcachetest.Options{Now: clock.Now}).Addr(), patient)
			for _, ttl := range ttls(s.Traits().MaxTTL) {
				for kind, create := range map[string]func(key string) error{
					"counter": func(key string) error {
						_, err := s.Add(context.Background(), key, 1, ttl)
						return err
					},
					"value": func(key string) error {
						_, err := s.Swap(context.Background(), key, "", []byte("1"), ttl)
						return err
					},
				} {
					key := fmt.Sprintf("%s-%d", kind, ttl)
					clock.Set(start.Add(time.Since(start)))
					before := clock.Now()
					require.NoError(t, create(key))

					clock.Set(before.Add(ttl - 1))
					require.Equal(t, []int64{1}, read(t, s, key), "%s lives for %v", kind, ttl)
					clock.Set(time.Now().Add(ttl + 3*time.Second))
					require.Equal(t, []int64{0}, read(t, s, key), "%s of %v is gone", kind, ttl)
				}
			}
		})
	}
}

// RL-016: additions do not keep a counter alive.
func TestRL016ATTLIsKeptByLaterAdditions(t *testing.T) {
	clock := memcachetest.NewClock(time.Now())
	s := open(t, startFake(t, &memcachetest.Options{Now: clock.Now}).Addr(), patient)
	add(t, s, "k", 9, 9)
	clock.Advance(ttl - time.Second)
	add(t, s, "k", 1, 10)
	add(t, s, "k", -1, 9)
	clock.Advance(3 * time.Second)
	require.Equal(t, []int64{0}, read(t, s, "k"))
}

// The same on memcached, which cannot be moved in time but tells how long a key has left.
func TestRL021RL023MemcachedIsToldTheTTL(t *testing.T) {
	addr := servertest.Memcached(t).Addr
	s := open(t, addr, patient)
	for _, ttl := range ttls(s.Traits().MaxTTL) {
		key := fmt.Sprintf("k%d", ttl)
		before := time.Now()
		_, err := s.Add(context.Background(), key, 1, ttl)
		require.NoError(t, err)
		require.Equal(t, []int64{1}, read(t, s, key), "there at once, for %v", ttl)

		left := regexp.MustCompile(`^HD t(\d+)$`).FindStringSubmatch(talk(t, addr, "mg "+key+" t"))
		require.Len(t, left, 2, "a TTL, and not for ever")
		seconds, err := strconv.ParseInt(left[1], 10, 64)
		require.NoError(t, err)
		// A key with s seconds left lives for more than s-1.
		require.Greater(t, float64(seconds-1)+time.Since(before).Seconds(), ttl.Seconds()-1e-6, "%v", ttl)
		require.LessOrEqual(t, float64(seconds), ttl.Seconds()+4, "%v", ttl)
	}
}

// exptimes gives the exptime of each add that a server is sent.
func exptimes(t *testing.T) (addr string, seen <-chan string) {
	all := make(chan string, 100)
	addr = listen(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if m := regexp.MustCompile(`^add \S+ 0 (-?\d+) `).FindStringSubmatch(line); m != nil {
				all <- m[1]
				_, _ = in.ReadString('\n')
				_, _ = io.WriteString(conn, "STORED\r\n")
			}
		}
	})
	return addr, all
}

func TestExptimeOnTheWire(t *testing.T) {
	addr, seen := exptimes(t)
	s := open(t, addr, patient)
	for _, c := range []struct {
		ttl  time.Duration
		want string
	}{
		{1, "2"},
		{time.Second, "2"},
		{time.Second + 1, "3"},
		{30*day - time.Second, "2592000"},
	} {
		_, err := s.Swap(context.Background(), "k", "", nil, c.ttl)
		require.NoError(t, err)
		require.Equal(t, c.want, <-seen, "%v", c.ttl)
	}
	for _, ttl := range []time.Duration{30*day - time.Second + 1, 31 * day, s.Traits().MaxTTL} {
		before := time.Now()
		_, err := s.Swap(context.Background(), "k", "", nil, ttl)
		require.NoError(t, err)
		at, err := strconv.ParseInt(<-seen, 10, 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, at, before.Add(ttl).Unix()+1)
		require.LessOrEqual(t, at, time.Now().Add(ttl).Unix()+2)
		require.LessOrEqual(t, at, int64(math.MaxInt32))
	}
}
