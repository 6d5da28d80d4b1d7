package httplimit_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/redis"
)

// guardTimeout is the deadline of a decision here.
const guardTimeout = 100 * time.Millisecond

// trouble is what can befall a Redis, and how it ends.
type trouble struct {
	name       string
	begin, end func(*testing.T, *redisInTrouble)
}

var troubles = []trouble{
	{"stopped", kill, restart},
	{"stopped behind a proxy", kill, restart},
	{
		"hung",
		func(t *testing.T, r *redisInTrouble) { require.NoError(t, r.server.Pause()) },
		func(t *testing.T, r *redisInTrouble) { require.NoError(t, r.server.Resume()) },
	},
	{
		"slow",
		func(_ *testing.T, r *redisInTrouble) { r.proxy.delay.Store(int64(5 * time.Second)) },
		func(_ *testing.T, r *redisInTrouble) { r.proxy.delay.Store(0) },
	},
	{
		"read-only",
		func(t *testing.T, r *redisInTrouble) { r.do(t, "replicaof", "127.0.0.1", "1") },
		func(t *testing.T, r *redisInTrouble) { r.do(t, "replicaof", "no", "one") },
	},
	{
		"full",
		func(t *testing.T, r *redisInTrouble) { r.do(t, "config", "set", "maxmemory", "1") },
		func(t *testing.T, r *redisInTrouble) { r.do(t, "config", "set", "maxmemory", "0") },
	},
}

func kill(t *testing.T, r *redisInTrouble) { require.NoError(t, r.server.Kill()) }

func restart(t *testing.T, r *redisInTrouble) {
	s, err := server.StartRedis(context.Background(), &server.RedisOptions{Port: r.server.Port})
	r.server = servertest.Adopt(t, s, err)
}

// RL-095, RL-096: whatever befalls the store, every request is answered in time and as
// configured, is observed once, and all is well soon after it is over.
func TestRL095RL096TroubledRedis(t *testing.T) {
	for _, tr := range troubles {
		for _, policy := range []string{"open", "closed", "fallback"} {
			t.Run(tr.name+"/"+policy, func(t *testing.T) { testTrouble(t, tr, policy, 1) })
		}
		t.Run(tr.name+"/all at once", func(t *testing.T) { testTrouble(t, tr, "fallback", 20) })
	}
}

func testTrouble(t *testing.T, tr trouble, policy string, callers int) {
	t.Parallel() // it mostly waits
	r := newRedisInTrouble(t, tr.name != "stopped")
	opts := &weir.GuardOptions{Timeout: guardTimeout, Pause: guardPause}
	var guard weir.Limiter
	want := []int{}
	switch policy {
	case "open":
		guard, want = weir.FailOpen(r.limiter, opts), slices.Repeat([]int{200}, 20)
	case "closed":
		guard, want = weir.FailClosed(r.limiter, opts), slices.Repeat([]int{503}, 20)
	case "fallback":
		guard = weir.FallBack(r.limiter, newWorld(t).firstHit("5/h"), opts)
		want = append(slices.Repeat([]int{200}, 5), slices.Repeat([]int{429}, 15)...)
	}
	var events, degraded atomic.Int64
	observed := weir.Observe(guard, policy, weir.ObserverFunc(func(_ context.Context, e weir.Event) {
		events.Add(1)
		if e.Decision.Degraded || e.Err != nil {
			degraded.Add(1)
		}
	}))
	h := handler(t, nil, httplimit.Rule{Name: "api", Limiter: observed})

	// A first connection may take longer than a decision may.
	_, err := r.limiter.Take(t.Context(), "first", 1)
	require.NoError(t, err)

	tr.begin(t, r)
	codes := make([]int, 20)
	took := make([]time.Duration, len(codes))
	var asked atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := asked.Add(1) - 1; int(i) < len(codes); i = asked.Add(1) - 1 {
				start := time.Now()
				codes[i] = get(h, "203.0.113.9:1").StatusCode
				took[i] = time.Since(start)
			}
		})
	}
	all.Wait()
	if callers > 1 {
		slices.Sort(codes)
	}
	require.Equal(t, want, codes)
	require.Equal(t, int64(20), events.Load(), "each decision is observed once")
	require.Equal(t, int64(20), degraded.Load())
	longest := slices.Max(took)
	require.Less(t, longest, guardTimeout+decisionSlack, "nobody waits for the store")

	tr.end(t, r)
	over := time.Now()
	require.Eventually(t, func() bool {
		degraded.Store(0)
		return get(h, "203.0.113.9:1").StatusCode == 200 && degraded.Load() == 0
	}, recoveryBound, 5*time.Millisecond)
	t.Logf("longest decision %v of %v; back to normal after %v", longest, guardTimeout, time.Since(over))
}

// RL-095: the same where the store is memcached, which two round trips decide.
func TestRL095TroubledMemcached(t *testing.T) {
	s := servertest.Memcached(t)
	st, err := memcache.Open([]string{s.Addr}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	l, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 1_000_000, Window: time.Hour}, st, nil)
	require.NoError(t, err)
	_, err = l.Take(t.Context(), "first", 1)
	require.NoError(t, err)
	guard := weir.FailOpen(l, &weir.GuardOptions{Timeout: guardTimeout, Pause: guardPause})

	require.NoError(t, s.Pause())
	longest := admitsAtOnce(t, guard)
	require.NoError(t, s.Resume())
	over := time.Now()
	require.Eventually(t, func() bool {
		d, err := guard.Take(t.Context(), "k", 1)
		return err == nil && !d.Degraded
	}, recoveryBound, 5*time.Millisecond)
	t.Logf("longest decision %v of %v; back to normal after %v", longest, guardTimeout, time.Since(over))
}

// admitsAtOnce asks twenty times a guard that fails open and whose store does not answer, and returns the longest
// that a decision took.
func admitsAtOnce(t *testing.T, guard *weir.Guard) (longest time.Duration) {
	for range 20 {
		start := time.Now()
		d, err := guard.Take(t.Context(), "k", 1)
		longest = max(longest, time.Since(start))
		require.NoError(t, err)
		require.True(t, d.Allowed)
		require.True(t, d.Degraded)
	}
	require.Less(t, longest, guardTimeout+decisionSlack)
	return longest
}

// redisInTrouble is a private Redis, behind a proxy or not, and a limiter on it.
type redisInTrouble struct {
	server  *server.Server
	proxy   *lag
	limiter *weir.Weir
}

func newRedisInTrouble(t *testing.T, behindProxy bool) *redisInTrouble {
	r := &redisInTrouble{server: servertest.Redis(t)}
	addr := r.server.Addr
	if behindProxy {
		r.proxy = newLag(t, addr)
		addr = r.proxy.listener.Addr().String()
	}
	st, err := redis.Open("redis://"+addr, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	r.limiter, err = weir.New(algorithms.GCRA(nil), weir.Limit{Count: 1_000_000, Window: time.Hour}, st, nil)
	require.NoError(t, err)
	return r
}

// do sends a command past the proxy.
func (r *redisInTrouble) do(t *testing.T, command ...any) {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: r.server.Addr})
	defer c.Close()
	require.NoError(t, c.Do(t.Context(), command...).Err(), fmt.Sprint(command...))
}

// lag forwards connections, and holds up answers for as long as it is told.
type lag struct {
	listener net.Listener
	delay    atomic.Int64
	done     chan struct{}
	running  sync.WaitGroup
}

func newLag(t *testing.T, target string) *lag {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &lag{listener: l, done: make(chan struct{})}
	p.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.forward(c, target) })
		}
	})
	t.Cleanup(func() {
		close(p.done)
		require.NoError(t, l.Close())
		p.running.Wait()
	})
	return p
}

func (p *lag) forward(client net.Conn, target string) {
	defer client.Close()
	backend, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer backend.Close()
	over := make(chan struct{}, 2)
	p.running.Go(func() {
		_, _ = io.Copy(backend, client)
		over <- struct{}{}
	})
	p.running.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := backend.Read(buf)
			if n > 0 {
				select {
				case <-time.After(time.Duration(p.delay.Load())):
				case <-p.done:
				}
				_, _ = client.Write(buf[:n])
			}
			if err != nil {
				over <- struct{}{}
				return
			}
		}
	})
	select {
	case <-over:
	case <-p.done:
	}
}
