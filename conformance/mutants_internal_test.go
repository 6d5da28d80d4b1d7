package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

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
	})
	require.NoError(t, err)
	i := slices.IndexFunc(s.checks, func(c check) bool { return c.name == name })
	require.GreaterOrEqual(t, i, 0, "no check %s", name)
	r := s.try(t.Context(), i)
	_ = s.close()
	return r
}

// killTable is what became of the mutants.
type killTable struct{ lines []string }

func (k *killTable) add(mutant string, r Result) {
	detail, _, _ := strings.Cut(r.Detail, "\n")
	if len(detail) > 90 {
		detail = detail[:90] + "…"
	}
	k.lines = append(k.lines, fmt.Sprintf("%-52s %-28s %-12s %s", mutant, r.Check, r.Status, detail))
}

func (k *killTable) print(t *testing.T) {
	t.Logf("%d mutants\n%s", len(k.lines), strings.Join(k.lines, "\n"))
}

func TestStoreMutantsAreCaught(t *testing.T) {
	var table killTable
	sound := map[string]bool{}
	for _, m := range slices.Concat(counterMutants, dataMutants) {
		t.Run(m.name, func(t *testing.T) {
			if !sound[m.check] { // what is caught must not be the store without the fault
				r := tryOne(t, m.check, []weir.Algorithm{}, func(f *faulty) store.Store { return f })
				require.Equal(t, Pass, r.Status, r)
				sound[m.check] = true
			}
			r := tryOne(t, m.check, []weir.Algorithm{}, func(f *faulty) store.Store {
				m.wreck(f)
				return f
			})
			table.add(m.name, r)
			require.Equal(t, m.want, r.Status, "survived: %s", r)
			require.NotEmpty(t, r.Rule)
			require.EqualValues(t, 1, r.Seed)
		})
	}
	table.print(t)
}
