// Package prometheus counts a limiter's decisions for Prometheus.
//
//	o, err := prometheus.New(registry)
//	limiter := weir.Observe(l, "api", o)
//
// There are two metrics: weir_decisions_total, with the labels limiter and outcome, and
// the histogram weir_decision_seconds with the label limiter. Keys are never labels. A
// limiter's label is the name that the program gave it; after [MaxLimiters] names all
// others are counted as "other", so that no mistake can make the series grow for ever.
package prometheus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	goprometheus "github.com/prometheus/client_golang/prometheus"

	"github.com/weirlimits/weir"
)

// MaxLimiters is how many limiters have a label of their own.
const MaxLimiters = 100

// outcome is how a decision ended.
type outcome int

const (
	allowed outcome = iota
	denied
	peeked         // nothing was asked for
	refunded       // given back
	degradedAllow  // the store could not answer: admitted all the same
	degradedDenied // the store could not answer: denied in its place
	failed         // no decision
	cancelled      // the caller left
	outcomes
)

var outcomeLabels = [outcomes]string{
	"allowed", "denied", "peeked", "refunded", "degraded_allowed", "degraded_denied", "failed", "cancelled",
}

// Observer is a [weir.Observer]. It is safe for concurrent use.
type Observer struct {
	decisions *goprometheus.CounterVec
	seconds   *goprometheus.HistogramVec

	mu       sync.RWMutex
	limiters map[string]*series
}

// series are what is counted of one limiter, looked up once.
type series struct {
	decisions [outcomes]goprometheus.Counter
	seconds   goprometheus.Observer
}

var _ weir.Observer = (*Observer)(nil)

// New registers the metrics. It returns the registry's error, such as
// [goprometheus.AlreadyRegisteredError] for a second Observer on one registry.
func New(r goprometheus.Registerer) (*Observer, error) {
	o := &Observer{
		decisions: goprometheus.NewCounterVec(goprometheus.CounterOpts{
			Name: "weir_decisions_total", Help: "Decisions of rate limiters.",
		}, []string{"limiter", "outcome"}),
		seconds: goprometheus.NewHistogramVec(goprometheus.HistogramOpts{
			Name: "weir_decision_seconds", Help: "How long rate limiters' decisions took.",
			Buckets: goprometheus.ExponentialBuckets(1e-6, 4, 12), // 1 us to 4.2 s
		}, []string{"limiter"}),
		limiters: map[string]*series{},
	}
	for _, c := range []goprometheus.Collector{o.decisions, o.seconds} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("weir: prometheus: %w", err)
		}
	}
	return o, nil
}

// Observe implements [weir.Observer].
func (o *Observer) Observe(_ context.Context, e weir.Event) {
	s := o.series(e.Limiter)
	s.decisions[outcomeOf(e)].Inc()
	s.seconds.Observe(e.Elapsed.Seconds())
}

func outcomeOf(e weir.Event) outcome {
	d := e.Decision
	switch {
	case errors.Is(e.Err, context.Canceled):
		return cancelled
	case e.Err != nil:
		return failed
	case d.Degraded && d.Allowed:
		return degradedAllow
	case d.Degraded:
		return degradedDenied
	case e.Cost < 0:
		return refunded
	case e.Cost == 0:
		return peeked
	case d.Allowed:
		return allowed
	default:
		return denied
	}
}

func (o *Observer) series(limiter string) *series {
	o.mu.RLock()
	s := o.limiters[limiter]
	full := len(o.limiters) >= MaxLimiters
	other := o.limiters[otherLimiters]
	o.mu.RUnlock()
	switch {
	case s != nil:
		return s
	case full && other != nil:
		return other
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.limiters) >= MaxLimiters {
		limiter = otherLimiters
	}
	if s := o.limiters[limiter]; s != nil {
		return s
	}
	s = &series{seconds: o.seconds.WithLabelValues(limiter)}
	for i, label := range outcomeLabels {
		s.decisions[i] = o.decisions.WithLabelValues(limiter, label)
	}
	o.limiters[limiter] = s
	return s
}

// otherLimiters is the label of all beyond the first [MaxLimiters].
const otherLimiters = "other"
