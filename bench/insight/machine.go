package insight

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// machine runs an algorithm's step for one client after the other. It decides as [weir.Weir] does on a store in this
// process: TTLs, which such a store keeps in real time, mean nothing in a trace's.
type machine struct {
	name     string
	step     store.Func
	params   []int64
	capacity int64
	maxCost  int64
	state    []byte
}

func newMachine(a weir.Algorithm, limit weir.Limit) (*machine, error) {
	if err := limit.Validate(); err != nil {
		return nil, err
	}
	shape, err := a.Shape(limit)
	if err != nil {
		return nil, err
	}
	for _, p := range shape.Plans {
		if p.Step == nil {
			continue
		}
		m := &machine{name: a.String(), step: p.Step.Func, params: p.Params, capacity: shape.Capacity, maxCost: p.MaxCost}
		if m.maxCost == 0 {
			m.maxCost = m.capacity
		}
		return m, nil
	}
	return nil, errNoStep
}

var errNoStep = errors.New("it has no step to run in process")

// fresh begins with a client that was never seen.
func (m *machine) fresh() { m.state = m.state[:0] }

// take decides one request. An error says that the algorithm takes no such cost.
func (m *machine) take(a ask) (store.Reply, error) {
	switch {
	case a.cost > m.capacity:
		return store.Reply{RetryAfter: -1}, nil // never
	case a.cost > m.maxCost:
		return store.Reply{}, &weir.FieldError{
			Field: "cost", Value: strconv.FormatInt(a.cost, 10), Want: fmt.Sprintf("at most %d for %s", m.maxCost, m.name),
		}
	}
	res := m.step(m.state, store.Args{Now: a.time, Cost: a.cost, Params: m.params})
	if res.Corrupt {
		return res.Reply, fmt.Errorf("insight: %s: the step does not read a state that it wrote", m.name)
	}
	if err := res.Reply.Check(); err != nil {
		return res.Reply, fmt.Errorf("insight: %s: %w", m.name, err)
	}
	if res.State != nil {
		m.state = res.State
	}
	return res.Reply, nil
}

// reason is an error as the reason why there is no figure.
func reason(err error) string {
	var field *weir.FieldError
	if errors.As(err, &field) && field.Field == "cost" {
		return "a cost of " + field.Value + ": want " + field.Want
	}
	return strings.TrimPrefix(err.Error(), "weir: ")
}
