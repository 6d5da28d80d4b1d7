package conformance

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// tryOne runs one check on a store that wreck made faulty.
func tryOne(t *testing.T, name string, algorithms []weir.Algorithm, wreck func(f *faulty) store.Store) Result {
	t.Helper()
	clock := newSimulatedTime()
	s, err := newSuite(t.Context(), Config{
		Open: func(context.Context) (store.Store, error) {
			return wreck(&faulty{inner: memory.New(&memory.Options{Clock: clock.Now})}), nil
		},
		Algorithms: algorithms,
		Time:       clock,
		Deadline:   5 * time.Minute, // a busy machine is no finding
	})
	require.NoError(t, err)
	i := slices.IndexFunc(s.checks, func(c check) bool { return c.name == name })
	require.GreaterOrEqual(t, i, 0, "no check %s", name)
	r := s.try(t.Context(), i)
	_ = s.close()
	return r
}

// sound leaves the store without a fault.
func sound(f *faulty) store.Store { return f }

func TestStoreMutantsAreCaught(t *testing.T) {
	t.Parallel()
	table := killTable{one: func(t *testing.T, check string) Result {
		return tryOne(t, check, []weir.Algorithm{}, sound)
	}}
	for _, c := range new(suite).storeChecks() {
		table.checks = append(table.checks, c.name)
	}
	for _, m := range slices.Concat(counterMutants, dataMutants, raceMutants) {
		table.mutants = append(table.mutants, mutant{m.name, m.check, m.want, func(t *testing.T, check string) Result {
			return tryOne(t, check, []weir.Algorithm{}, func(f *faulty) store.Store {
				m.wreck(f)
				return f
			})
		}})
	}
	table.fill(t)
}
