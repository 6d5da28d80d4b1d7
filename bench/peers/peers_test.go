package peers

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// each opens every peer with 5 per hour.
func each(t *testing.T, fn func(t *testing.T, e Entry, p Peer)) {
	client := newClient(t, servertest.Redis(t).Addr)
	for _, e := range All() {
		t.Run(e.String(), func(t *testing.T) {
			p, err := e.Open(Config{Limit: weir.Limit{Count: 5, Window: time.Hour}, Redis: client})
			require.NoError(t, err)
			fn(t, e, p)
			require.NoError(t, p.Close())
		})
	}
}

func TestStoresThatAModuleLacks(t *testing.T) {
	lacks, seen := map[string]string{}, map[string]bool{}
	for _, e := range All() {
		require.NotContains(t, seen, e.String())
		seen[e.String()] = true
		var all []string
		for _, c := range e.Cannot {
			if store, ok := strings.CutPrefix(c, "store: "); ok {
				all = append(all, store)
			}
		}
		lacks[e.Name] = strings.Join(all, " ")
	}
	require.Equal(t, map[string]string{
		"x/time/rate": "redis memcache", "uber/ratelimit": "redis memcache", "go-limiter": "redis memcache",
		"httprate": "redis memcache", "throttled": "memcache", "ulule": "memcache", "redis_rate": "memory memcache",
	}, lacks)
}

func TestFiveOfTenAreAdmitted(t *testing.T) {
	each(t, func(t *testing.T, e Entry, p Peer) {
		if !e.Can(CannotDeny) {
			t.Skip("not covered here: it would wait an hour")
		}
		admitted := 0
		for range 10 {
			a, err := p.Take(t.Context(), "k", 1)
			require.NoError(t, err)
			if a.Allowed {
				admitted++
				require.Zero(t, a.RetryAfter)
				continue
			}
			require.Equal(t, e.Can(CannotRetry), a.RetryAfter > 0)
			require.LessOrEqual(t, a.RetryAfter, time.Hour+time.Second)
		}
		if e.Name == redisRate.Name {
			require.InDelta(t, 5, admitted, 1, "floats")
		} else {
			require.Equal(t, 5, admitted)
		}
		a, err := p.Take(t.Context(), "another", 1)
		require.NoError(t, err)
		require.True(t, a.Allowed)
	})
}

// What is listed as impossible is unsupported, and nothing else is.
func TestCannot(t *testing.T) {
	each(t, func(t *testing.T, e Entry, p Peer) {
		_, err := p.Take(t.Context(), "k", 1)
		require.NoError(t, err)
		supported := func(what string, err error) {
			t.Helper()
			if e.Can(what) {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, errors.ErrUnsupported)
			}
		}
		a, err := p.Take(t.Context(), "k", 0)
		supported(CannotPeek, err)
		if err == nil {
			require.True(t, a.Allowed)
			require.InDelta(t, 4, a.Remaining, 1)
		}
		a, err = p.Take(t.Context(), "cost", 3)
		supported(CannotCost, err)
		require.Equal(t, err == nil, a.Allowed)
		if err == nil {
			a, err = p.Take(t.Context(), "cost", 3)
			require.NoError(t, err)
			require.False(t, a.Allowed)
		}
		supported(CannotReset, p.Reset(t.Context(), "k"))
		if !e.Can(CannotReset) || !e.Can(CannotPeek) {
			return
		}
		a, err = p.Take(t.Context(), "k", 0)
		require.NoError(t, err)
		require.InDelta(t, 5, a.Remaining, 1)
		require.NotEqualValues(t, 3, a.Remaining)
	})
}

func TestClocks(t *testing.T) {
	client := newClient(t, servertest.Redis(t).Addr)
	for _, e := range All() {
		t.Run(e.String(), func(t *testing.T) {
			var mu sync.Mutex
			now := start
			set := func(at time.Time) { mu.Lock(); defer mu.Unlock(); now = at }
			p, err := e.Open(Config{Limit: weir.Limit{Count: 5, Window: time.Hour}, Redis: client, Clock: func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				return now
			}})
			if !e.Can(CannotClock) {
				require.ErrorIs(t, err, errors.ErrUnsupported)
				return
			}
			require.NoError(t, err)
			if !e.Can(CannotDeny) {
				first, err := p.Take(t.Context(), "k", 1)
				require.NoError(t, err)
				require.True(t, first.Allowed)
				done := make(chan error, 1)
				go func() { _, err := p.Take(t.Context(), "k", 1); done <- err }()
				set(start.Add(time.Hour))
				require.NoError(t, <-done)
				return
			}
			takeAll := func() (n int) {
				for range 10 {
					a, err := p.Take(t.Context(), "k", 1)
					require.NoError(t, err)
					if a.Allowed {
						n++
					}
				}
				return n
			}
			require.Equal(t, 5, takeAll())
			set(start.Add(time.Hour + time.Second))
			require.Equal(t, 5, takeAll())
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	_, err := redisRate.Open(Config{Limit: weir.Limit{Count: 5, Window: time.Hour}})
	require.EqualError(t, err, "peers: redis_rate on redis: Redis: nil: want a client")
	var field *weir.FieldError
	_, err = golangRate.Open(Config{})
	require.ErrorAs(t, err, &field)
	_, err = ululeRedis.Open(Config{
		Limit: weir.Limit{Count: 5, Window: time.Hour},
		Redis: goredis.NewClient(ClientOptions("127.0.0.1:1", 1)),
	})
	require.ErrorContains(t, err, "peers: ulule on redis: ")
}

func Example() {
	for _, e := range All() {
		if e.Store == Redis {
			fmt.Println(e, "cannot:", strings.Join(e.Cannot, ", "))
		}
	}
	// Output:
	// throttled on redis cannot: reset, store: memcache
	// ulule on redis cannot: injected clock, store: memcache
	// redis_rate on redis cannot: injected clock, store: memory, store: memcache
}
