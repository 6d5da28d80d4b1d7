package ask_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/hammer/ask"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store/memory"
)

// network is a service at a distance, in simulated time: each way takes up to delay.
type network struct {
	handler http.Handler
	delay   time.Duration

	mu  sync.Mutex
	rng *rand.Rand
}

func newNetwork(h http.Handler, delay time.Duration, seed uint64) *network {
	return &network{handler: h, delay: delay, rng: rand.New(rand.NewPCG(seed, 1))}
}

func (n *network) travel() {
	n.mu.Lock()
	d := time.Duration(n.rng.Int64N(int64(n.delay) + 1))
	n.mu.Unlock()
	time.Sleep(d)
}

// client is the network as seen from one address.
func (n *network) client(i int) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		n.travel()
		in := req.Clone(req.Context())
		in.RemoteAddr = fmt.Sprintf("192.0.2.%d:4711", i)
		rec := httptest.NewRecorder()
		n.handler.ServeHTTP(rec, in)
		n.travel()
		return rec.Result(), nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

var limited = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })

// serve puts a limit in front of a handler.
func serve(t testing.TB, algorithm string, limit weir.Limit, key httplimit.Key) http.Handler {
	a, err := algorithms.Parse(algorithm)
	require.NoError(t, err)
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	l, err := weir.New(a, limit, st, nil)
	require.NoError(t, err)
	mw, err := httplimit.New(&httplimit.Options{XRateLimit: true}, httplimit.Rule{Name: "api", Limiter: l, Key: key})
	require.NoError(t, err)
	return mw(limited)
}

// simulate asks a handler in simulated time.
func simulate(t *testing.T, h http.Handler, limit weir.Limit, delay time.Duration, seed uint64) *ask.Report {
	time.Sleep(time.Duration(rand.New(rand.NewPCG(seed, 2)).Int64N(int64(limit.Window)))) // any phase
	rep, err := ask.Run(context.Background(), ask.Config{
		URL: "http://192.0.2.200/", Limit: limit, Requests: 1_000_000, Time: time.Hour, Transport: newNetwork(h, delay, seed).client,
	})
	require.NoError(t, err)
	return rep
}

var blind = []string{"fixed-window", "fixed-window-first-hit", "sliding-counter", "gcra", "sliding-log"}

// Each algorithm is named by its answers alone.
func TestNamesAlgorithmsBlind(t *testing.T) {
	for _, name := range blind {
		for _, limit := range []string{"3/100ms", "10/1s", "100/1m", "7/3s"} {
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("%s/%s/%d", name, limit, seed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						l, err := weir.ParseLimit(limit)
						require.NoError(t, err)
						rep := simulate(t, serve(t, name, l, nil), l, time.Millisecond, seed)
						require.Equal(t, name, rep.Name(), "%s: %+v", rep.Conclusion(), rep.Candidates)
						require.Equal(t, ask.True, rep.RetryAfter.Truth, "%+v", rep.RetryAfter)
						require.Equal(t, ask.True, rep.Remaining.Truth, "%+v", rep.Remaining)
						require.Equal(t, ask.False, rep.Forged[0].Fresh, "%+v", rep.Forged)
						require.Equal(t, l.Count, rep.AtOnce)
					})
				})
			}
		}
	}
}

// However long answers take, the algorithm that decided is never ruled out, and no other is named.
func TestNeverRulesOutTheTrueOne(t *testing.T) {
	for _, name := range blind {
		for _, limit := range []string{"1/200ms", "2/1s", "10/1s", "20/500ms"} {
			for _, delay := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond} {
				t.Run(fmt.Sprintf("%s/%s/%s", name, limit, delay), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						l, err := weir.ParseLimit(limit)
						require.NoError(t, err)
						rep := simulate(t, serve(t, name, l, nil), l, delay, 7)
						require.Contains(t, []string{name, ""}, rep.Name(), "%+v", rep.Candidates)
						require.True(t, rep.TooSlow || consistent(rep, name), "%+v", rep.Candidates)
						require.Equal(t, rep.TooSlow, delay > l.Window/16*2, "%s", rep.Conclusion())
						require.NotEqual(t, ask.False, rep.RetryAfter.Truth, "%+v", rep.RetryAfter)
						require.NotEqual(t, ask.False, rep.Remaining.Truth, "%+v", rep.Remaining)
						require.NotEqual(t, ask.True, rep.Forged[0].Fresh, "%+v", rep.Forged)
					})
				})
			}
		}
	}
}

func consistent(rep *ask.Report, name string) bool {
	for _, c := range rep.Candidates {
		if c.Algorithm == name {
			return c.Consistent
		}
	}
	return false
}

// All clients under one limit, as behind a proxy that hides their addresses: the run notices, and waits instead.
func TestClientsUnderOneLimit(t *testing.T) {
	for _, name := range blind {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := weir.Limit{Count: 10, Window: time.Second}
					rep := simulate(t, serve(t, name, l, httplimit.Everyone), l, time.Millisecond, seed)
					require.Equal(t, "one", rep.Clients)
					require.Equal(t, name, rep.Name(), "%s: %+v", rep.Conclusion(), rep.Candidates)
				})
			})
		}
	}
}
