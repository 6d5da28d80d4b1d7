package ask_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/hammer/ask"
	"github.com/weirlimits/weir/httplimit"
)

var tenPerSecond = weir.Limit{Count: 10, Window: time.Second}

// change is a service whose answers are changed on their way.
func change(h http.Handler, change func(status int, header http.Header)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		change(rec.Code, rec.Header())
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
	})
}

// Services that break a promise are found out.
func TestFindsWhatIsNotTrue(t *testing.T) {
	for name, c := range map[string]struct {
		algorithm string
		change    func(int, http.Header)
		check     func(*testing.T, *ask.Report)
	}{
		"waits too short": {"sliding-log", func(_ int, h http.Header) {
			if h.Get("Retry-After") != "" {
				h.Set("Retry-After", "0")
			}
		}, func(t *testing.T, r *ask.Report) {
			require.Equal(t, ask.False, r.RetryAfter.Truth)
			require.Zero(t, r.RetryAfter.Held)
		}},
		"waits too long": {"gcra", func(_ int, h http.Header) {
			if h.Get("Retry-After") != "" {
				h.Set("Retry-After", "60")
			}
		}, func(t *testing.T, r *ask.Report) {
			require.Equal(t, ask.False, r.RetryAfter.Truth)
			require.Greater(t, r.RetryAfter.LateUS, int64(50_000_000))
		}},
		"says no wait": {"gcra", func(_ int, h http.Header) { h.Del("Retry-After") }, func(t *testing.T, r *ask.Report) {
			require.Equal(t, ask.Absent, r.RetryAfter.Truth)
		}},
		"promises more": {"gcra", func(_ int, h http.Header) {
			h.Del("Ratelimit")
			h.Set("X-RateLimit-Remaining", "10")
		}, func(t *testing.T, r *ask.Report) {
			require.Equal(t, ask.False, r.Remaining.Truth)
			require.Equal(t, "X-RateLimit-Remaining", r.Remaining.Field)
			require.Positive(t, r.Remaining.Over)
		}},
		"promises less": {
			"fixed-window", func(_ int, h http.Header) { h.Set("RateLimit", `limit=10, remaining=0, reset=1`) },
			func(t *testing.T, r *ask.Report) {
				require.Equal(t, ask.False, r.Remaining.Truth)
				require.Zero(t, r.Remaining.Over)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rep := simulate(t, change(serve(t, c.algorithm, tenPerSecond, nil), c.change), tenPerSecond, time.Millisecond, 3)
				require.Equal(t, c.algorithm, rep.Name(), rep.Conclusion())
				c.check(t, rep)
			})
		})
	}
}

// Who believes any X-Forwarded-For gives each a limit of its own.
func TestForgedHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		believing, err := httplimit.NewAddresses(&httplimit.AddressOptions{TrustedProxies: []string{"192.0.2.0/24"}})
		require.NoError(t, err)
		rep := simulate(t, serve(t, "gcra", tenPerSecond, believing.Key), tenPerSecond, time.Millisecond, 1)
		require.Equal(t, ask.Forged{Header: "X-Forwarded-For", Fresh: ask.True, Sent: 3, Allowed: 3}, rep.Forged[0])
		require.Equal(t, ask.False, rep.Forged[1].Fresh)
		require.Equal(t, ask.False, rep.Forged[2].Fresh)
	})
}

// Without a limit of the kind that was claimed, nothing is named.
func TestNamesNothingWrong(t *testing.T) {
	for name, h := range map[string]func(testing.TB) http.Handler{
		"another limit": func(t testing.TB) http.Handler {
			return serve(t, "fixed-window", weir.Limit{Count: 5, Window: 300 * time.Millisecond}, nil)
		},
		"sub-windows": func(t testing.TB) http.Handler { return serve(t, "bucketed-window,buckets=5", tenPerSecond, nil) },
		"no limit":    func(testing.TB) http.Handler { return limited },
		"never":       func(testing.TB) http.Handler { return http.HandlerFunc(deny) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rep := simulate(t, h(t), tenPerSecond, time.Millisecond, 5)
				require.Empty(t, rep.Name(), rep.Conclusion())
			})
		})
	}
}

func deny(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }
