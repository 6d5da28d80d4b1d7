package worst

import (
	"errors"
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// machine is an algorithm's step with its parameters, and how it behaves as time goes on.
type machine struct {
	step      *store.Step
	params    []int64
	limit     int64
	window    int64 // ticks
	capacity  int64
	guarantee weir.Guarantee

	// period is by how many ticks all times can be moved without a decision changing:
	// what the step aligns to the epoch, or 1 where it compares times with each other
	// only. base is a multiple of it, far from the start of time.
	period, base int64

	scratch []byte
}

func newMachine(a weir.Algorithm, l weir.Limit) (*machine, error) {
	shape, err := a.Shape(l)
	if err != nil {
		return nil, err
	}
	step, params, err := stepOf(a, shape)
	if err != nil {
		return nil, err
	}
	m := &machine{
		step: step, params: params, limit: l.Count, window: l.Window.Microseconds(),
		capacity: shape.Capacity, guarantee: shape.Guarantee,
	}
	m.period = period(a, m.window, params)
	m.base = m.period * (1 << 40 / m.period)
	return m, nil
}

// period is what a step aligns its times to. A window is right for any that aligns to
// nothing else; the shorter ones keep the search small. One that is wrong shows when
// a history, moved by it, is decided otherwise.
func period(a weir.Algorithm, window int64, params []int64) int64 {
	switch a.Name() {
	case "bucketed-window":
		return params[1]
	case "packed-log":
		return params[2]
	case "gcra", "fixed-window-first-hit", "sliding-log", "ring-log":
		return 1
	default:
		return window
	}
}

// run runs the step without keeping what it writes.
func (m *machine) run(state string, now, cost int64) (store.Result, error) {
	m.scratch = append(m.scratch[:0], state...)
	res := m.step.Func(m.scratch, store.Args{Now: now, Cost: cost, Params: m.params})
	if res.Corrupt {
		return res, errors.New("the step does not read a state that it wrote")
	}
	if err := res.Reply.Check(); err != nil {
		return res, err
	}
	if cost == 0 && res.State != nil {
		return res, errors.New("a peek writes")
	}
	if res.State != nil && res.TTL < res.Reply.ResetAfter {
		return res, fmt.Errorf("a TTL of %dus ends a state that matters for %dus", res.TTL, res.Reply.ResetAfter)
	}
	return res, nil
}

// replay runs a log from a key that was never used.
func (m *machine) replay(log []event) (string, error) {
	state := ""
	for _, ev := range log {
		res, err := m.run(state, m.base+int64(ev.at), int64(ev.cost))
		if err != nil {
			return "", err
		}
		if res.Reply.Allowed != ev.allowed {
			return "", fmt.Errorf("decides otherwise %d ticks later", m.period)
		}
		if res.State != nil {
			state = string(res.State)
		}
	}
	return state, nil
}

// unused tells whether a state answers as a missing one does, now and later: every
// request of the next windows, and every peek after that request.
func (m *machine) unused(state string, now int64) (bool, error) {
	return m.alike(state, "", now, min(mostCost, m.capacity))
}

// alike tells whether two states answer alike requests up to a cost.
func (m *machine) alike(a, b string, now, most int64) (bool, error) {
	for t := now; t <= now+m.window+m.period; t++ {
		for cost := range most + 1 {
			ra, err := m.run(a, t, cost)
			if err != nil {
				return false, err
			}
			nextA := string(ra.State)
			rb, err := m.run(b, t, cost)
			if err != nil {
				return false, err
			}
			nextB := string(rb.State)
			if ra.Reply != rb.Reply {
				return false, nil
			}
			if nextA == nextB {
				continue
			}
			if same, err := m.alike(nextA, nextB, t, 0); !same || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// stepOf returns the step behind an algorithm's plans, and its parameters. A limit's
// window may be shorter than one that [weir.New] takes.
func stepOf(a weir.Algorithm, shape weir.Shape) (*store.Step, []int64, error) {
	for _, p := range shape.Plans {
		if p.Step != nil && !p.Racy {
			return p.Step, p.Params, nil
		}
	}
	return nil, nil, fmt.Errorf("worst: %s: %w: it has no step: want an algorithm with a script plan", a, ErrOutOfReach)
}
