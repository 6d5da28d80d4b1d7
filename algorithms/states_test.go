package algorithms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

// FuzzStates: whatever bytes lie under a key, a step neither panics nor admits more
// than its capacity; what it leaves unchanged it does not touch.
func FuzzStates(f *testing.F) {
	type target struct {
		step   *store.Step
		params []int64
		limit  int64
	}
	var targets []target
	for _, a := range append(algorithms.All(), algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: true}),
		algorithms.PackedLog(&algorithms.PackedLogOptions{Block: 3})) {
		l, err := weir.ParseLimit("10/1m")
		require.NoError(f, err)
		step, params := algorithms.StepOf(a, l)
		targets = append(targets, target{step, params, l.Count})
		var state []byte
		for i := range int64(12) {
			if res := step.Func(state, store.Args{Now: epoch + i*1000, Cost: 1, Params: params}); res.State != nil {
				state = res.State
				f.Add(state, int64(epoch), int64(1), true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, state []byte, now, cost int64, own bool) {
		now = int64(uint64(now) % 7_000_000_000_000_000)
		for _, to := range targets {
			n := int64(uint64(cost) % uint64(to.limit+1))
			before := append([]byte(nil), state...)
			owned := append([]byte(nil), state...)
			res := to.step.Func(owned, store.Args{Now: now, OwnTime: own, Cost: n, Params: to.params})
			if res.Corrupt || res.State == nil {
				require.Equal(t, before, append([]byte(nil), owned...), to.step.Name)
			}
			if res.Corrupt || res.Reply.Check() != nil {
				continue
			}
			require.LessOrEqual(t, res.Reply.Remaining, to.limit)
			if res.State == nil {
				continue
			}
			require.Positive(t, res.TTL, to.step.Name)
			// What was written is read again, and one instant gives no more than the limit.
			admitted, next := int64(0), res.State
			for range 2 * to.limit {
				again := to.step.Func(next, store.Args{Now: now, OwnTime: own, Cost: 1, Params: to.params})
				require.False(t, again.Corrupt, "%s does not read what it wrote", to.step.Name)
				if again.State != nil {
					next = again.State
				}
				if again.Reply.Allowed {
					admitted++
				}
			}
			require.LessOrEqual(t, admitted, to.limit, to.step.Name)
		}
	})
}
