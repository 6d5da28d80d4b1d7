package weir

import (
	"context"
	"fmt"
	"time"

	"github.com/weirlimits/weir/store"
)

// ScriptPlan runs a step next to the data, in one round trip. extra names what the
// step's Lua twin needs besides [store.CapScript].
func ScriptPlan(step *store.Step, params []int64, extra store.Capability) Plan {
	return Plan{
		Name:  "script",
		Needs: store.CapScript | extra,
		Trips: 1, DeniedTrips: 1, Refunds: true,
		Step: step, Params: params,
		Bind: func(b Binding) (Bound, error) {
			runner, err := b.Store.(store.Scripter).Prepare(step, b.Space)
			if err != nil {
				return nil, err
			}
			one := store.Args{OwnTime: true, Cost: 1, Params: params}
			return &scriptBound{runner: runner, params: params, binding: b, one: one}, nil
		},
	}
}

type scriptBound struct {
	runner  store.Runner
	params  []int64
	binding Binding
	one     store.Args // of the usual decision: to make them anew each time costs as much as a lock
}

func (s *scriptBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	if s.binding.Clock == nil {
		if cost == 1 {
			return s.runner.Run(ctx, key, s.one)
		}
		return s.runner.Run(ctx, key, store.Args{OwnTime: true, Cost: cost, Params: s.params})
	}
	now, err := Micros(s.binding.Clock())
	if err != nil {
		return store.Reply{}, err
	}
	return s.runner.Run(ctx, key, store.Args{Now: now, Cost: cost, Params: s.params})
}

func (s *scriptBound) Keys(key string) []string { return []string{s.binding.Space + key} }

// maxMicros is the year 2200, well below the 2^53 that Lua counts exactly.
var maxMicros = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// Micros converts a clock's reading to whole microseconds since the Unix epoch. It
// returns a [FieldError] for a time before 1970 or after 2200.
func Micros(t time.Time) (int64, error) {
	us := t.UnixMicro()
	if us < 0 || us > maxMicros {
		return 0, &FieldError{Field: "clock", Value: fmt.Sprint(t), Want: "a time from 1970 to 2200"}
	}
	return us, nil
}
