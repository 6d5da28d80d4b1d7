package peers

import (
	"context"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"

	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/conformance"
)

// The faults of peers that are known must be found by the suite's own rules. The versions are pinned, and a
// peer that mended a fault fails here.

// strangeThrottled is throttled on a client, with a store between that the test may change.
func strangeThrottled(client *goredis.Client, between func(throttled.GCRAStoreCtx) throttled.GCRAStoreCtx) stranger {
	return stranger{
		name: "throttled", promise: algorithms.GCRA(nil), prefix: throttledPrefix, pace: 100,
		open: func(c Config) (Peer, error) {
			st, err := goredisstore.NewCtx(client, throttledPrefix)
			if err != nil {
				return nil, err
			}
			return newThrottled(between(st), c)
		},
	}
}

func asItIs(st throttled.GCRAStoreCtx) throttled.GCRAStoreCtx { return st }

// roundingUp gives throttled's store whole seconds, which it then has nothing to cut from.
type roundingUp struct{ throttled.GCRAStoreCtx }

func (r roundingUp) SetIfNotExistsWithTTL(ctx context.Context, key string, value int64, ttl time.Duration) (bool, error) {
	return r.GCRAStoreCtx.SetIfNotExistsWithTTL(ctx, key, value, wholeSeconds(ttl))
}

func (r roundingUp) CompareAndSwapWithTTL(ctx context.Context, key string, old, value int64, ttl time.Duration) (bool, error) {
	return r.GCRAStoreCtx.CompareAndSwapWithTTL(ctx, key, old, value, wholeSeconds(ttl))
}

func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// The state of a bucket that takes 2.5 s to refill goes up to a second too early, and with it what it knew.
func TestThrottledForgetsTooEarly(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(throttled.GCRAStoreCtx) throttled.GCRAStoreCtx
		broken  bool
	}{
		{"as it is", asItIs, true},
		{"with its TTL rounded up", func(st throttled.GCRAStoreCtx) throttled.GCRAStoreCtx { return roundingUp{st} }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := newSimulatedRedis(t)
			s := strangeThrottled(server.client, c.between)
			s.pace = 25_000
			open := s.open
			s.open = func(c Config) (Peer, error) {
				p, err := open(c)
				return passing{p, server, c.Clock}, err
			}
			r := find(t, server.Addr(), s, "guarantee")["guarantee"]
			if !c.broken {
				require.Equal(t, conformance.Pass, r.Status, r.String())
				return
			}
			broken(t, r, `^a window sees \d+ admitted: at most \d+ are declared$`)
		})
	}
}

// looking is a peer that is peeked at before each request.
type looking struct{ Peer }

func (l looking) Take(ctx context.Context, key string, n int64) (Answer, error) {
	if n > 0 {
		if _, err := l.Peer.Take(ctx, key, 0); err != nil {
			return Answer{}, err
		}
	}
	return l.Peer.Take(ctx, key, n)
}

// A peek whose compare-and-swap meets another's tries again as a request of one.
func TestThrottledPeekTakesUnderConflict(t *testing.T) {
	const patient = 100_000 // attempts: that they run out is another fault
	opened := func(t *testing.T, around func(Peer) Peer) (string, stranger) {
		client, addr := realRedis(t)
		s := strangeThrottled(client, asItIs)
		open := s.open
		s.open = func(c Config) (Peer, error) {
			p, err := open(c)
			if err == nil {
				p.(*gcra).limiter.SetMaxCASAttemptsLimit(patient)
			}
			return around(p), err
		}
		return addr, s
	}
	t.Run("alone, requests are counted well", func(t *testing.T) {
		addr, s := opened(t, func(p Peer) Peer { return p })
		r := find(t, addr, s, "concurrent")["concurrent"]
		require.Equal(t, conformance.Pass, r.Status, r.String())
	})
	t.Run("with peeks among them", func(t *testing.T) {
		addr, s := opened(t, func(p Peer) Peer { return looking{p} })
		broken(t, find(t, addr, s, "concurrent")["concurrent"], `^of 64 callers that ask for 1 each at one instant \d+ were admitted: the capacity is 20$`)
	})
}

func TestThrottledPeekWrites(t *testing.T) {
	client, addr := realRedis(t)
	broken(t, find(t, addr, strangeThrottled(client, asItIs), "peek")["peek"], `^a peek wrote the key`)
}

func strangeUlule(client *goredis.Client, pace int64) stranger {
	return stranger{
		name: "ulule", promise: algorithms.FixedWindowFirstHit(), prefix: "limiter:", pace: pace,
		open: func(c Config) (Peer, error) {
			c.Redis = client
			return ululeRedis.open(c)
		},
	}
}

// A window of half a millisecond is one of none at all, and a key that was given none stays.
func TestUluleKeepsShortWindowsForEver(t *testing.T) {
	client, addr := realRedis(t)
	for pace, want := range map[int64]conformance.Status{
		100: conformance.Pass, // 100 ms
		1:   conformance.Pass, // 1 ms
	} {
		r := find(t, addr, strangeUlule(client, pace), "ttl")["ttl"]
		require.Equal(t, want, r.Status, r.String())
	}
	s := strangeUlule(client, 1)
	open := s.open
	s.open = func(c Config) (Peer, error) {
		c.Limit.Window /= 2 // 500 us
		return open(c)
	}
	broken(t, find(t, addr, s, "ttl")["ttl"], `^the key .* is still there .* after the longest TTL`)
}

// A window of 1.5 ms ends after 1 ms; and a denied request of two takes the last place.
func TestUluleEndsWindowsTooEarly(t *testing.T) {
	for pace, detail := range map[int64]string{
		15:  `^(a window sees [0-9]+ admitted: at most [0-9]+ are declared|denied with [1-9] places free: at most 0 are declared)$`,
		100: `^denied with [1-9] places free: at most 0 are declared$`,
	} {
		server := newSimulatedRedis(t)
		s := strangeUlule(server.client, pace)
		open := s.open
		s.open = func(c Config) (Peer, error) {
			p, err := open(c)
			return passing{p, server, c.Clock}, err
		}
		broken(t, find(t, server.Addr(), s, "guarantee")["guarantee"], detail)
	}
}

func strangeRedisRate(client *goredis.Client) stranger {
	return stranger{
		name: "redis_rate", promise: algorithms.GCRA(nil), prefix: "rate:", pace: 100,
		open: func(c Config) (Peer, error) {
			c.Redis = client
			if c.Clock != nil {
				c.Redis = shadowed{client, c.Clock}
			}
			return redisRate.open(c)
		},
	}
}

// Its floats lose the last place of a bucket that fills at one instant.
func TestRedisRateLosesAPlace(t *testing.T) {
	client, addr := realRedis(t)
	r := find(t, addr, strangeRedisRate(client), "guarantee")["guarantee"]
	broken(t, r, `^denied with [1-9] places free: at most 0 are declared$`)
}

// For a cost above its burst it tells a wait, and when that is over the same wait again. So the stranger
// claims what the wait promises: that two more than the burst are admitted one day. [weir.Weir] itself answers for
// costs above the capacity, so that no plan can get those wrong.
func TestRedisRateTellsAWaitForWhatNeverComes(t *testing.T) {
	client, addr := realRedis(t)
	s := strangeRedisRate(client)
	s.spare = 2
	s.pace = 160_000 // 10 ms are 16 s, which floats hold exactly
	found := find(t, addr, s, "retry", "keys")
	broken(t, found["retry"], `^denied at the instant that it was told$`)
	require.Equal(t, "limit 1/10ms", found["retry"].History[0])
	require.Regexp(t, `Take\([23]\): denied`, found["retry"].History[len(found["retry"].History)-1])
	broken(t, found["keys"], `was never used, and its first request is denied`)
}

// A time that was stored before the server's clock went back is believed.
func TestRedisRateLocksOutAfterAClockStep(t *testing.T) {
	client, addr := realRedis(t)
	broken(t, find(t, addr, strangeRedisRate(client), "future")["future"], `^a state from a clock 50h ahead denies for 50h0m.*: one refill takes at most 1m4.750002s$`)
}
