package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/httplimit"
)

// RL-099: a request whose client has left is neither denied nor failed, not served, and no
// success in the log.
func TestRL099ClientLeft(t *testing.T) {
	l := &leaver{Limiter: newWorld(t).firstHit("1/min")}
	limit, err := httplimit.New(
		&httplimit.Options{Failed: func(http.ResponseWriter, *http.Request, error) { t.Error("failed") }},
		httplimit.Rule{Name: "api", Key: httplimit.Everyone, Limiter: weir.FailOpen(l, nil)},
	)
	require.NoError(t, err)
	served := 0
	h := limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	serve := func(ctx context.Context) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		return rec
	}
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		if l.leave = cancel; i%2 == 0 {
			cancel()
		}
		rec := serve(ctx)
		require.Equal(t, httplimit.StatusClientLeft, rec.Code)
		require.Empty(t, rec.Header())
		require.Empty(t, rec.Body.String())
	}
	require.Zero(t, served)
	l.leave = nil
	rec := serve(t.Context())
	require.Equal(t, 200, rec.Code, "nothing was counted, nothing opened the breaker")
	require.Equal(t, `"api";r=0;t=60`, rec.Header().Get("RateLimit"))
	require.Equal(t, 1, served)
}

// leaver is a limiter whose caller leaves while it decides, where leave is set.
type leaver struct {
	weir.Limiter
	leave func()
}

func (l *leaver) Take(ctx context.Context, key string, n int64) (weir.Decision, error) {
	if l.leave == nil {
		return l.Limiter.Take(ctx, key, n)
	}
	l.leave()
	<-ctx.Done()
	return weir.Decision{}, ctx.Err()
}

// RL-096: what a request gets whose limiter cannot answer is the user's choice.
func TestRL096StoreDown(t *testing.T) {
	w := newWorld(t)
	down := w.firstHit("1/min")
	spare := newWorld(t).firstHit("2/min")
	require.NoError(t, w.st.Close())
	codes := func(l weir.Limiter, opts *httplimit.Options) (codes []int) {
		h := handler(t, opts, httplimit.Rule{Name: "api", Limiter: l})
		for range 4 {
			res := get(h, "203.0.113.9:1")
			codes = append(codes, res.StatusCode)
			if res.StatusCode == 503 {
				require.Equal(t, "1", res.Header.Get("Retry-After"))
				require.Empty(t, res.Header.Values("RateLimit"))
			}
		}
		return codes
	}
	require.Equal(t, []int{503, 503, 503, 503}, codes(down, nil))
	require.Equal(t, []int{503, 503, 503, 503}, codes(weir.FailClosed(down, nil), nil))
	require.Equal(t, []int{200, 200, 200, 200}, codes(weir.FailOpen(down, nil), nil))
	require.Equal(t, []int{200, 200, 429, 429}, codes(weir.FallBack(down, spare, nil), nil))
	require.Equal(t, []int{418, 418, 418, 418}, codes(weir.FailClosed(down, nil), &httplimit.Options{
		Failed: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, weir.ErrUnavailable) {
				w.WriteHeader(http.StatusTeapot)
			}
		},
	}))
}
