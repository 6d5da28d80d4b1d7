package bench

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	eventsRounds   = 3
	eventsEach     = 60 // decisions in a round
	eventsWarmUp   = 8
	eventsOneByOne = eventsWarmUp + eventsRounds*eventsEach
)

// eventsMeter measures the decisions of one key that holds n events.
type eventsMeter struct {
	point    EventsPoint
	held     *held
	latency  *hdrhistogram.Histogram // nanoseconds
	serverUS []float64               // per decision, by round
}

// newEventsMeter fills the key.
func newEventsMeter(ctx context.Context, p pair, n int64, most time.Duration) (*eventsMeter, error) {
	m := &eventsMeter{point: EventsPoint{Events: n}, latency: hdrhistogram.New(1, slowest, digits)}
	if p.backend.StandIn != "" {
		m.point.NA = StandIn
		return m, nil
	}
	na, err := within(ctx, most, heldLimit(p.limit, n), func(ctx context.Context) (err error) {
		if m.held, err = newHeld(ctx, p, n, eventsOneByOne); err != nil {
			return err
		}
		for range eventsWarmUp {
			if err := m.held.take(ctx, 1); err != nil {
				return err
			}
		}
		size, err := m.held.size(ctx)
		m.point.BytesPerKey = float64(size)
		return err
	})
	if na != "" {
		m.point = EventsPoint{Events: n, NA: na}
	}
	return m, err
}

// round measures some decisions, in each of which one event comes and one leaves.
func (m *eventsMeter) round(ctx context.Context, most time.Duration) error {
	na, err := within(ctx, most, m.held.pair.limit, func(ctx context.Context) error {
		u, err := used(ctx, m.held.pair.backend, func() error {
			for range eventsEach {
				start := time.Now()
				if err := m.held.take(ctx, 1); err != nil {
					return err
				}
				took := int64(time.Since(start))
				if err := m.latency.RecordValue(max(1, min(took, slowest))); err != nil {
					return err
				}
			}
			return nil
		})
		m.serverUS = append(m.serverUS, float64(u.ServerUS)/eventsEach)
		return err
	})
	if na != "" {
		m.point = EventsPoint{Events: m.point.Events, NA: na}
	}
	return err
}

func (m *eventsMeter) result() EventsPoint {
	p := m.point
	if p.NA == "" {
		p.DecisionUS = float64(m.latency.ValueAtQuantile(50)) / 1000
		p.ServerUS = median(m.serverUS)
	}
	return p
}

// close deletes the key.
func (m *eventsMeter) close(ctx context.Context) error {
	if m.held == nil || m.held.limiter == nil {
		return nil
	}
	return m.held.limiter.Reset(ctx, m.held.key)
}
