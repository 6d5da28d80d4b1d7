package bench

import (
	"context"
	"fmt"

	"github.com/weirlimits/weir/internal/backend"
)

// addGrowth measures how cost grows with the events of a key and with the keys of a store, and who waits
// while many events go.
func (r *run) addGrowth() {
	g := r.config.Growth
	if g == nil {
		return
	}
	for _, n := range g.Events {
		r.addEvents(n)
	}
	for _, e := range r.entries {
		if e.backend.Kind == backend.KindMemory && len(g.Keys) > 0 {
			r.addKeys(e)
		}
	}
	if g.Stall > 0 {
		for _, e := range r.entries {
			r.add(e, fmt.Sprintf("stall by %d events", g.Stall), func(ctx context.Context) error {
				s, err := measureStall(ctx, e.pair, g.Stall, g.PointTime)
				if err == nil {
					e.Stall = &s
				}
				return err
			})
		}
	}
}

// growth returns the growth of a pair, to be filled in.
func (e *entry) growth() *Growth {
	if e.Result.Growth == nil {
		e.Result.Growth = &Growth{}
	}
	return e.Result.Growth
}

// addEvents interleaves the rounds of all pairs. A pair for which fewer events took too long is not tried
// with more.
func (r *run) addEvents(n int64) {
	g := r.config.Growth
	meters := map[*entry]*eventsMeter{}
	for _, e := range r.entries {
		r.add(e, fmt.Sprintf("a key of %d events", n), func(ctx context.Context) (err error) {
			m := &eventsMeter{point: EventsPoint{Events: n, NA: tooLong(g.PointTime)}}
			if all := e.growth().Events; len(all) == 0 || all[len(all)-1].NA != m.point.NA {
				m, err = newEventsMeter(ctx, e.pair, n, g.PointTime)
			}
			meters[e] = m
			return err
		})
	}
	for i := range eventsRounds {
		for _, e := range r.entries {
			r.add(e, fmt.Sprintf("decisions at %d events", n), func(ctx context.Context) error {
				m := meters[e]
				if m.point.NA == "" {
					if err := m.round(ctx, g.PointTime); err != nil {
						return err
					}
				}
				e.growth().keep(m.result())
				if i < eventsRounds-1 {
					return nil
				}
				delete(meters, e)
				return m.close(ctx)
			})
		}
	}
}

// keep adds a point, or replaces the last one where that was less well measured.
func (g *Growth) keep(p EventsPoint) {
	if last := len(g.Events) - 1; last >= 0 && g.Events[last].Events == p.Events {
		g.Events[last] = p
		return
	}
	g.Events = append(g.Events, p)
}

// addKeys measures in one store after the other, so that only one is full at a time.
func (r *run) addKeys(e *entry) {
	g := r.config.Growth
	r.add(e, "many keys", func(ctx context.Context) error {
		m, err := newKeysMeter(e.pair)
		if err != nil {
			return err
		}
		defer m.close()
		na := ""
		for _, n := range g.Keys {
			point := KeysPoint{Keys: n}
			if na == "" { // else more keys take longer still
				na, err = within(ctx, g.PointTime, e.limit, func(ctx context.Context) (err error) {
					point, err = m.measure(ctx, n)
					return err
				})
			}
			if err != nil {
				return err
			}
			if na != "" {
				point = KeysPoint{Keys: n, NA: na}
			}
			e.growth().Keys = append(e.growth().Keys, point)
		}
		return nil
	})
}
