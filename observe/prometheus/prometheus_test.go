package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	goprometheus "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/observe/prometheus"
	"github.com/weirlimits/weir/store/memory"
)

func observer(t *testing.T) (*prometheus.Observer, *goprometheus.Registry) {
	t.Helper()
	r := goprometheus.NewPedanticRegistry()
	o, err := prometheus.New(r)
	require.NoError(t, err)
	return o, r
}

func TestDecisionsAreCounted(t *testing.T) {
	o, r := observer(t)
	st := memory.New(nil)
	l, err := weir.New(algorithms.FixedWindow(), weir.Limit{Count: 2, Window: 24 * time.Hour}, st, nil)
	require.NoError(t, err)
	open := weir.Observe(weir.FailOpen(l, nil), "api", o)
	closed := weir.Observe(weir.FailClosed(l, nil), "pay", o)
	for range 5 {
		_, err := open.Take(t.Context(), "a client's key", 1)
		require.NoError(t, err)
	}
	_, err = open.Refund(t.Context(), "a client's key", 1)
	require.NoError(t, err)
	_, err = open.Peek(t.Context(), "a client's key")
	require.NoError(t, err)
	require.NoError(t, st.Close())
	_, err = open.Take(t.Context(), "a client's key", 1)
	require.NoError(t, err)
	_, err = closed.Take(t.Context(), "a client's key", 1)
	require.ErrorIs(t, err, weir.ErrUnavailable)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = closed.Take(gone, "a client's key", 1)
	require.ErrorIs(t, err, context.Canceled)

	require.NoError(t, testutil.GatherAndCompare(r, strings.NewReader(`
# HELP weir_decisions_total Decisions of rate limiters.
# TYPE weir_decisions_total counter
weir_decisions_total{limiter="api",outcome="allowed"} 2
weir_decisions_total{limiter="api",outcome="cancelled"} 0
weir_decisions_total{limiter="api",outcome="degraded_allowed"} 1
weir_decisions_total{limiter="api",outcome="degraded_denied"} 0
weir_decisions_total{limiter="api",outcome="denied"} 3
weir_decisions_total{limiter="api",outcome="failed"} 0
weir_decisions_total{limiter="api",outcome="peeked"} 1
weir_decisions_total{limiter="api",outcome="refunded"} 1
weir_decisions_total{limiter="pay",outcome="allowed"} 0
weir_decisions_total{limiter="pay",outcome="cancelled"} 1
weir_decisions_total{limiter="pay",outcome="degraded_allowed"} 0
weir_decisions_total{limiter="pay",outcome="degraded_denied"} 0
weir_decisions_total{limiter="pay",outcome="denied"} 0
weir_decisions_total{limiter="pay",outcome="failed"} 1
weir_decisions_total{limiter="pay",outcome="peeked"} 0
weir_decisions_total{limiter="pay",outcome="refunded"} 0
`), "weir_decisions_total"))
	require.Equal(t, 2, testutil.CollectAndCount(r, "weir_decision_seconds"))
	lint, err := testutil.GatherAndLint(r)
	require.NoError(t, err)
	require.Empty(t, lint)
}

func TestSeriesAreBounded(t *testing.T) {
	o, r := observer(t)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 10_000 {
				o.Observe(t.Context(), weir.Event{Limiter: fmt.Sprint(worker, i), Key: fmt.Sprint(i), Err: errors.New("down")})
			}
		})
	}
	all.Wait()
	require.Equal(t, prometheus.MaxLimiters+1, testutil.CollectAndCount(r, "weir_decision_seconds"))
	total := 0.0
	families, err := r.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			total += m.GetCounter().GetValue()
		}
	}
	require.Equal(t, 40_000.0, total, "none is lost")
}

func TestASecondObserverIsRefused(t *testing.T) {
	_, r := observer(t)
	_, err := prometheus.New(r)
	require.ErrorAs(t, err, &goprometheus.AlreadyRegisteredError{})
}
