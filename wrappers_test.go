package weir_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

func TestWaitTakesWhenTheLimitAdmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &troubled{Weir: limited(t, 2)}
		start := time.Now()
		for range 6 {
			d, err := weir.Wait(t.Context(), l, "api", 1)
			require.NoError(t, err)
			require.True(t, d.Allowed)
		}
		require.Equal(t, 2*time.Minute, time.Since(start), "two in each minute")
		require.Equal(t, int64(8), l.asked.Load(), "one try for each sleep")
	})
}

func TestManyWaitersStayWithinTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t, 5)
		start := time.Now()
		var all sync.WaitGroup
		var admitted [4]atomic.Int64
		for range 20 {
			all.Go(func() {
				if _, err := weir.Wait(t.Context(), l, "api", 1); err == nil {
					admitted[time.Since(start)/time.Minute].Add(1)
				}
			})
		}
		all.Wait()
		for i := range admitted {
			require.Equal(t, int64(5), admitted[i].Load(), "minute %d", i)
		}
	})
}

func TestWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t, 2)
		var exceeded *weir.Exceeded
		start := time.Now()

		_, err := weir.Wait(t.Context(), l, "api", 3)
		require.ErrorAs(t, err, &exceeded, "can never be admitted")
		require.Equal(t, weir.Never, exceeded.Decision.RetryAfter)
		require.EqualError(t, err, "weir: limit exceeded: 3 is above the capacity of 2")

		_, err = weir.Wait(t.Context(), l, "api", 2)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		_, err = weir.Wait(ctx, l, "api", 1)
		require.ErrorAs(t, err, &exceeded, "not before the deadline")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Minute, exceeded.Decision.RetryAfter)
		require.Zero(t, time.Since(start), "and it says so at once")

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = weir.Wait(ctx, l, "api", 1)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestAdmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &troubled{Weir: limited(t, 1)}
		require.NoError(t, weir.Admit(t.Context(), l, "alice@example.org", 1))
		err := weir.Admit(t.Context(), l, "alice@example.org", 1)
		require.EqualError(t, err, "weir: limit exceeded: try again in 1m0s", "without the key")
		l.set(fails(errDown))
		require.ErrorIs(t, weir.Admit(t.Context(), l, "k", 1), errDown)
	})
}

func TestShadowNeverDenies(t *testing.T) {
	inner := &troubled{Weir: limited(t, 3)}
	var seen []bool
	l := weir.NewShadow(weir.Observe(inner, "trial", weir.ObserverFunc(func(_ context.Context, e weir.Event) {
		seen = append(seen, e.Decision.Allowed)
	})))
	for range 5 {
		d, err := l.Take(t.Context(), "k", 1)
		require.NoError(t, err)
		require.True(t, d.Allowed)
		require.Zero(t, d.RetryAfter)
	}
	require.Equal(t, []bool{true, true, true, false, false}, seen, "the observer sees what would have been")

	d, err := l.Take(t.Context(), "k", 1)
	require.NoError(t, err)
	_, err = weir.Undo(t.Context(), l, "k", 1, d)
	require.NoError(t, err)
	left, err := inner.Peek(t.Context(), "k")
	require.NoError(t, err)
	require.Zero(t, left.Remaining, "a request that took nothing gives nothing back")

	inner.set(fails(errDown))
	d, err = l.Take(t.Context(), "k", 1)
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.True(t, d.Degraded)
	require.ErrorIs(t, d.Cause(), errDown)
	inner.set(nil)
	var wrong *weir.FieldError
	_, err = l.Take(t.Context(), "k", -1)
	require.ErrorAs(t, err, &wrong)
}

func TestPerKeyReadsTheLimitAtEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(nil)
		defer st.Close()
		plan := map[string]int64{"": 1, "free": 2, "paid": 5}
		l, err := weir.NewPerKey(algorithms.FixedWindow(), func(key string) weir.Limit {
			return weir.Limit{Count: plan[key], Window: time.Minute}
		}, st, nil)
		require.NoError(t, err)
		admitted := func(key string) (n int) {
			for range 20 {
				d, err := l.Take(t.Context(), key, 1)
				require.NoError(t, err)
				require.Equal(t, plan[key], d.Limit)
				if d.Allowed {
					n++
				}
			}
			return n
		}
		require.Equal(t, 2, admitted("free"))
		require.Equal(t, 5, admitted("paid"))
		plan["free"] = 6
		require.Equal(t, 4, admitted("free"), "raised: at once")
		plan["paid"] = 1
		require.Equal(t, 0, admitted("paid"), "lowered: what was admitted counts")
		plan["free"] = 0
		var wrong *weir.FieldError
		_, err = l.Take(t.Context(), "free", 1)
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "limit count", wrong.Field)
	})
}

func TestPerKeyChecksTheStoreAtConstruction(t *testing.T) {
	st := memory.New(nil)
	defer st.Close()
	var wrong *weir.FieldError
	_, err := weir.NewPerKey(algorithms.FixedWindow(), func(string) weir.Limit { return weir.Limit{} }, st, nil)
	require.ErrorAs(t, err, &wrong)
}

func TestPerKeyKeepsFewLimits(t *testing.T) {
	st := memory.New(nil)
	defer st.Close()
	n := int64(0)
	l, err := weir.NewPerKey(algorithms.FixedWindow(), func(string) weir.Limit {
		n++
		return weir.Limit{Count: n, Window: time.Minute}
	}, st, nil)
	require.NoError(t, err)
	for range 5000 {
		_, err := l.Take(t.Context(), "k", 0)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, weir.ReadyLimits(l), 1024)
}

func TestDeniedCostsAreDeniedHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &troubled{Weir: limited(t, 10)}
		l, err := weir.CacheDenials(inner, nil)
		require.NoError(t, err)
		take := func(n int64) weir.Decision {
			d, err := l.Take(t.Context(), "k", n)
			require.NoError(t, err)
			return d
		}
		require.True(t, take(8).Allowed)
		require.False(t, take(4).Allowed)
		require.Equal(t, int64(2), inner.asked.Load())

		time.Sleep(20 * time.Second)
		d := take(4)
		require.False(t, d.Allowed)
		require.Equal(t, 40*time.Second, d.RetryAfter, "as it is now")
		require.False(t, take(9).Allowed)
		d = take(11)
		require.False(t, d.Allowed)
		require.Equal(t, weir.Never, d.RetryAfter)
		require.Equal(t, int64(2), inner.asked.Load(), "without a trip")

		require.True(t, take(2).Allowed, "a smaller cost is asked for")
		require.False(t, take(1).Allowed)
		require.False(t, take(1).Allowed)
		require.Equal(t, int64(4), inner.asked.Load())

		time.Sleep(40 * time.Second)
		require.True(t, take(4).Allowed, "at exactly that instant")

		require.False(t, take(10).Allowed)
		_, err = l.Refund(t.Context(), "k", 4)
		require.NoError(t, err)
		require.True(t, take(10).Allowed, "a refund through the cache shows at once")
		require.False(t, take(1).Allowed)
		require.NoError(t, l.Reset(t.Context(), "k"))
		require.True(t, take(10).Allowed, "and so does a reset")
	})
}

// A denial that was under way when the key was forgotten is not kept.
func TestForgettingBeatsADenialUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &after{Weir: limited(t, 1)}
		l, err := weir.CacheDenials(inner, nil)
		require.NoError(t, err)
		require.NoError(t, weir.Admit(t.Context(), l, "k", 1))
		inner.delay = time.Second
		time.AfterFunc(500*time.Millisecond, func() { _ = l.Reset(context.Background(), "k") })
		require.Error(t, weir.Admit(t.Context(), l, "k", 1))
		require.NoError(t, weir.Admit(t.Context(), l, "k", 1))
	})
}

// after is a limiter whose answers are under way for a while.
type after struct {
	*weir.Weir
	delay time.Duration
}

func (a *after) Take(ctx context.Context, key string, n int64) (weir.Decision, error) {
	d, err := a.Weir.Take(ctx, key, n)
	time.Sleep(a.delay)
	return d, err
}

func TestDenialsAreBounded(t *testing.T) {
	l, err := weir.CacheDenials(limited(t, 1), &weir.DenialOptions{MaxKeys: 160})
	require.NoError(t, err)
	for i := range 10_000 {
		key := fmt.Sprint(strings.Repeat("x", 10_000), i%5000) // RL-114: long keys
		_, err := l.Take(t.Context(), key, 1)
		require.NoError(t, err)
	}
	keys, longest := weir.CachedDenials(l)
	require.LessOrEqual(t, keys, 160)
	require.Greater(t, keys, 80)
	require.LessOrEqual(t, longest, 128)
}

func TestDenialsAreNotCachedWhereTheyCount(t *testing.T) {
	st := memory.New(nil)
	defer st.Close()
	aggressive, err := algorithms.Parse("ring-log,denied=count")
	require.NoError(t, err)
	l, err := weir.New(aggressive, weir.Limit{Count: 2, Window: time.Second}, st, nil)
	require.NoError(t, err)
	_, err = weir.CacheDenials(weir.FailOpen(l, nil), nil)
	require.ErrorContains(t, err, "does not count denied requests")
	per, err := weir.NewPerKey(aggressive, func(string) weir.Limit { return l.Limit() }, st, nil)
	require.NoError(t, err)
	_, err = weir.CacheDenials(per, nil)
	require.ErrorContains(t, err, "does not count denied requests")
}

func TestDegradedDenialsAreNotCached(t *testing.T) {
	inner := &troubled{Weir: limited(t, 10)}
	to := limited(t, 1)
	l, err := weir.CacheDenials(weir.FallBack(inner, to, guarded), nil)
	require.NoError(t, err)
	inner.set(fails(errDown))
	require.NoError(t, weir.Admit(t.Context(), l, "k", 1))
	require.Error(t, weir.Admit(t.Context(), l, "k", 1))
	inner.set(nil)
	require.NoError(t, weir.Admit(t.Context(), l, "k", 1), "the store is asked again")
}

// No wrapper hides what its inner limiter is.
func TestWrappersHideNothing(t *testing.T) {
	inner := limited(t, 10)
	o := weir.ObserverFunc(func(context.Context, weir.Event) {})
	cached, err := weir.CacheDenials(inner, nil)
	require.NoError(t, err)
	for _, l := range []weir.Limiter{
		weir.Observe(inner, "x", o), weir.NewShadow(inner), cached,
		weir.FailOpen(inner, nil), weir.FailClosed(inner, nil), weir.FallBack(inner, limited(t, 1), nil),
		weir.Observe(weir.NewShadow(weir.FailOpen(inner, nil)), "x", o),
	} {
		require.NoError(t, inner.Reset(t.Context(), "k"))
		w, ok := weir.As[*weir.Weir](l)
		require.True(t, ok)
		require.Same(t, inner, w)
		_, err := l.Take(t.Context(), "k", 5)
		require.NoError(t, err)
		d, err := l.(weir.Refunder).Refund(t.Context(), "k", 3)
		require.NoError(t, err)
		require.Equal(t, int64(8), d.Remaining)
		require.NoError(t, l.Reset(t.Context(), "k"))
		d, err = l.Peek(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, int64(10), d.Remaining)
	}
	_, ok := weir.As[*weir.Guard](inner)
	require.False(t, ok)
	_, err = weir.Observe(noRefunds{inner}, "x", o).Refund(t.Context(), "k", 1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestLogSaysWhatHappened(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "elapsed" {
				return slog.Attr{}
			}
			return a
		},
	}))
	synctest.Test(t, func(t *testing.T) {
		inner := &troubled{Weir: limited(t, 1)}
		l := weir.Observe(weir.FallBack(inner, limited(t, 1), guarded), "login", weir.NewLog(logger, nil))
		closed := weir.Observe(weir.FailClosed(inner, guarded), "pay", weir.NewLog(logger, &weir.LogOptions{Key: func(string) string { return "k***" }}))
		ctx, cancel := context.WithCancel(t.Context())
		_, _ = l.Take(ctx, "secret", 1)
		_, _ = l.Take(ctx, "secret", 1)
		_, _ = l.Refund(ctx, "secret", 1)
		inner.set(fails(errDown))
		_, _ = l.Take(ctx, "secret", 1)
		_, _ = l.Take(ctx, "secret", 1)
		_, _ = closed.Take(ctx, "secret", 1)
		cancel()
		_, _ = l.Take(ctx, "secret", 1)
	})
	require.Equal(t, strings.TrimPrefix(`
level=DEBUG msg="weir: admitted" limiter=login cost=1 remaining=0 retry_after=0s
level=INFO msg="weir: denied" limiter=login cost=1 remaining=0 retry_after=1m0s
level=DEBUG msg="weir: gave back" limiter=login cost=-1 remaining=1 retry_after=0s
level=WARN msg="weir: admitted, degraded" limiter=login cost=1 remaining=0 retry_after=0s error="weir: store unavailable: connection refused"
level=WARN msg="weir: denied, degraded" limiter=login cost=1 remaining=0 retry_after=1m0s error="weir: store unavailable: connection refused"
level=WARN msg="weir: no decision" limiter=pay cost=1 key=k*** error="weir: store unavailable: connection refused"
level=DEBUG msg="weir: caller left" limiter=login cost=1 error="weir: context canceled"
`, "\n"), out.String())
}
