package redis_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

// Faults that were reported of other limiters' keys on Redis, with every algorithm. What
// concerns the store's own methods is beside those.

func limiterOn(t *testing.T, b backend, a weir.Algorithm, limit string, opts *weir.Options) *weir.Weir {
	t.Helper()
	l, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	limiter, err := weir.New(a, l, b.Store, opts)
	require.NoError(t, err)
	return limiter
}

func allowed(t *testing.T, l *weir.Weir, key string) bool {
	t.Helper()
	d, err := l.Take(t.Context(), key, 1)
	require.NoError(t, err)
	return d.Allowed
}

// pass lets the stand-in's time and its keys' lives go on.
func (b backend) pass(now *time.Time, d time.Duration) {
	*now = now.Add(d)
	b.mini.SetTime(*now)
	b.mini.FastForward(d)
}

// RL-003: a third request that reaches the server 80 ms after its time was read still finds the count.
func TestRL003TheKeyIsThereAtTheEndOfTheWindow(t *testing.T) {
	for _, a := range []weir.Algorithm{algorithms.FixedWindow(), algorithms.FixedWindowFirstHit()} {
		b, now := onMini(t), start.Truncate(time.Minute)
		b.mini.SetTime(now)
		l := limiterOn(t, b, a, "2/60s", nil)
		for range 2 {
			require.True(t, allowed(t, l, "k"))
		}
		b.mini.FastForward(60*time.Second + 80*time.Millisecond)
		b.mini.SetTime(now.Add(59_980 * time.Millisecond))
		require.False(t, allowed(t, l, "k"), a)
	}
}

// RL-013: a state that was left at the limit without a TTL frees its client one window later, and then
// has one again.
func TestRL013StateWithoutTTLHeals(t *testing.T) {
	for _, a := range algorithms.All() {
		b, now := onMini(t), start.Truncate(time.Second)
		b.mini.SetTime(now)
		l := limiterOn(t, b, a, "2/1s", nil)
		for range 2 {
			require.True(t, allowed(t, l, "k"))
		}
		require.True(t, b.client.Persist(t.Context(), l.Keys("k")[0]).Val())
		require.False(t, allowed(t, l, "k"), a)
		b.pass(&now, 2*time.Second) // the weighted and the bucketed ones forget a little later
		require.True(t, allowed(t, l, "k"), a)
		b.livesAtMost(t, l.Keys("k")[0], 3*time.Second)
	}
}

// livesAtMost requires a TTL, and at most this one.
func (b backend) livesAtMost(t *testing.T, key string, most time.Duration) {
	t.Helper()
	left := b.client.PTTL(t.Context(), key).Val()
	require.Positive(t, left, key)
	require.LessOrEqual(t, left, most+2*time.Millisecond, key)
}

// RL-015: requests exactly one window apart, which meet the key as it expires, leave none without a TTL. A
// short window on a server has as many such meetings in a moment as a long one in ten seconds.
func TestRL015NoStateWithoutTTL(t *testing.T) {
	t.Parallel()
	onReal(t, func(t *testing.T, b backend) {
		var group sync.WaitGroup
		for _, a := range algorithms.All() {
			l := limiterOn(t, b, a, "1/2ms", nil)
			key := l.Keys("k")[0]
			group.Go(func() {
				tick := time.NewTicker(2 * time.Millisecond)
				defer tick.Stop()
				for range 100 {
					<-tick.C
					if _, err := l.Take(t.Context(), "k", 1); err != nil {
						t.Errorf("%s: %v", a, err)
					}
					if left := b.client.PTTL(t.Context(), key).Val(); left == -1 {
						t.Errorf("%s: the key has no TTL", a)
					}
				}
			})
		}
		group.Wait()
	})
}

// RL-017, RL-126: under windows below a second, which other clients round to 0 or to 1 s, the key has a
// TTL, in milliseconds, and the client is free in time.
func TestRL017RL126ShortWindows(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		l := limiterOn(t, b, algorithms.GCRA(&algorithms.GCRAOptions{Burst: 1}), "100/1s", nil)
		require.True(t, allowed(t, l, "k"))
		if left := b.client.PTTL(t.Context(), l.Keys("k")[0]).Val(); b.mini != nil || left != -2 {
			require.Positive(t, left)
			require.LessOrEqual(t, left, 73*time.Millisecond) // the bucket's 10 ms, and a sixteenth of the window
		}
		for _, a := range algorithms.All() {
			l := limiterOn(t, b, a, "5/300ms", nil)
			require.True(t, allowed(t, l, "k"))
			if left := b.client.PTTL(t.Context(), l.Keys("k")[0]).Val(); b.mini != nil || left != -2 {
				require.Positive(t, left, a)
				require.LessOrEqual(t, left, 700*time.Millisecond, a)
			}
		}
	})
}

// RL-126: lists and sorted sets too are given milliseconds, not a second.
func TestRL126NoMethodRoundsToSeconds(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		const ttl = 500 * time.Millisecond
		for key, write := range map[string]func() error{
			"counter": func() error { _, err := b.Add(t.Context(), "counter", 1, ttl); return err },
			"value":   func() error { _, err := b.Swap(t.Context(), "value", "", []byte("x"), ttl); return err },
			"list":    func() error { _, err := b.PushFront(t.Context(), "list", ttl, "x"); return err },
			"members": func() error {
				_, err := b.AddMembers(t.Context(), "members", ttl, store.Member{Score: 1, Name: "x"})
				return err
			},
		} {
			require.NoError(t, write())
			b.livesAtMost(t, key, ttl)
		}
	})
}

// RL-026: of a thousand clients of each algorithm, none leaves a key without a TTL.
func TestRL026EveryKeyHasATTL(t *testing.T) {
	onReal(t, func(t *testing.T, b backend) {
		const clients, callers = 1000, 50
		var group sync.WaitGroup
		for _, a := range algorithms.All() {
			l := limiterOn(t, b, a, "5/1h", nil)
			for caller := range callers {
				group.Go(func() {
					for i := caller; i < clients; i += callers {
						if _, err := l.Take(t.Context(), strconv.Itoa(i), 1); err != nil {
							t.Errorf("%s: %v", a, err)
						}
					}
				})
			}
		}
		group.Wait()
		seen := 0
		for scan := b.client.Scan(t.Context(), 0, "*", 1000).Iterator(); scan.Next(t.Context()); seen++ {
			left := b.client.PTTL(t.Context(), scan.Val()).Val()
			require.Positive(t, left, scan.Val())
		}
		require.GreaterOrEqual(t, seen, clients*len(algorithms.All()))
	})
}

// RL-092: the time is the server's or, under an injected clock, the caller's, and then no script asks for
// the server's: a user who may not ask it decides by the one and gets an error by the other.
func TestRL092TheTimeSourceIsAChoice(t *testing.T) {
	onReal(t, func(t *testing.T, b backend) {
		require.NoError(t, b.client.Do(t.Context(), "acl", "setuser", "default", "-time").Err())
		now := start
		for _, a := range algorithms.All() {
			brought := limiterOn(t, b, a, "1/1s", &weir.Options{Clock: func() time.Time { return now }})
			require.True(t, allowed(t, brought, "k"), a)
			require.False(t, allowed(t, brought, "k"), a)
			_, err := limiterOn(t, b, a, "1/1s", &weir.Options{Prefix: "own"}).Take(t.Context(), "k", 1)
			require.ErrorContains(t, err, "can't run this command", a)
		}
	})
}

// RL-125: what runs on the stand-in, whose keys never expire by themselves and whose TIME stands still,
// runs on a server too, where both go on.
func TestRL125TheServerExpiresByItself(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		for _, a := range algorithms.All() {
			l := limiterOn(t, b, a, "1/5ms", nil)
			before, err := b.Now(t.Context())
			require.NoError(t, err)
			require.True(t, allowed(t, l, "k"))
			gone := func() bool { return b.client.Exists(t.Context(), l.Keys("k")[0]).Val() == 0 }
			if b.mini != nil {
				require.False(t, gone())
				b.mini.FastForward(time.Second)
				after, err := b.Now(t.Context())
				require.NoError(t, err)
				require.Equal(t, before, after, "the stand-in's time moves by SetTime alone")
			}
			require.Eventually(t, gone, 10*time.Second, time.Millisecond, a)
			require.Eventually(t, func() bool {
				if b.mini != nil {
					b.mini.SetTime(before.Add(time.Second))
				}
				return allowed(t, l, "k")
			}, 10*time.Second, time.Millisecond, fmt.Sprint(a))
		}
	})
}
