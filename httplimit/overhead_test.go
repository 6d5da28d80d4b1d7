package httplimit_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store/memory"
)

// maxAllocs is what the middleware may add to a request on the memory store, with a guard.
const maxAllocs = 6

// deadEnd is a response that costs nothing itself. The server makes its header anew for
// each request, and so does reset.
type deadEnd struct{ header http.Header }

func (d *deadEnd) Header() http.Header         { return d.header }
func (d *deadEnd) Write(b []byte) (int, error) { return len(b), nil }
func (d *deadEnd) WriteHeader(int)             {}
func (d *deadEnd) reset()                      { clear(d.header) }

func overhead(tb testing.TB, limit string, wrap func(weir.Limiter) weir.Limiter) (bare, limited func()) {
	l, err := weir.ParseLimit(limit)
	require.NoError(tb, err)
	st := memory.New(nil)
	tb.Cleanup(func() { require.NoError(tb, st.Close()) })
	limiter, err := weir.New(algorithms.GCRA(nil), l, st, nil)
	require.NoError(tb, err)
	mw, err := httplimit.New(nil, httplimit.Rule{Name: "api", Limiter: wrap(limiter)})
	require.NoError(tb, err)
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancel(context.Background()) // as a server's requests have
	tb.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	require.NoError(tb, err)
	r.RemoteAddr = "203.0.113.9:1234"
	w := &deadEnd{http.Header{}}
	run := func(h http.Handler) func() {
		return func() {
			w.reset()
			h.ServeHTTP(w, r)
		}
	}
	return run(next), run(mw(next))
}

func asItIs(l weir.Limiter) weir.Limiter { return l }

func guarded(l weir.Limiter) weir.Limiter { return weir.FailOpen(l, nil) }

func TestMiddlewareAllocatesLittle(t *testing.T) {
	bare, limited := overhead(t, "1000000000/1s", guarded)
	added := testing.AllocsPerRun(1000, limited) - testing.AllocsPerRun(1000, bare)
	require.LessOrEqual(t, added, float64(maxAllocs))
}

func BenchmarkMiddleware(b *testing.B) {
	for _, c := range []struct {
		name, limit string
		wrap        func(weir.Limiter) weir.Limiter
	}{
		{"admitted", "1000000000/1s", asItIs},
		{"admitted, guarded", "1000000000/1s", guarded},
		{"denied", "1/1d", asItIs},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, limited := overhead(b, c.limit, c.wrap)
			b.ReportAllocs()
			for b.Loop() {
				limited()
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		bare, _ := overhead(b, "1/1s", asItIs)
		b.ReportAllocs()
		for b.Loop() {
			bare()
		}
	})
	b.Run("limiter alone", func(b *testing.B) {
		st := memory.New(nil)
		defer st.Close()
		l, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 1_000_000_000, Window: time.Second}, st, nil)
		require.NoError(b, err)
		for b.Loop() {
			_, _ = l.Take(b.Context(), "api:203.0.113.9", 1)
		}
	})
}
