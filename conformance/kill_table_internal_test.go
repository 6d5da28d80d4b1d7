package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// mutant is one fault and the check that is meant to find it.
type mutant struct {
	name, check string
	want        Status
	try         func(t *testing.T, check string) Result
}

// killTable is which checks find which mutants.
type killTable struct {
	checks  []string
	one     func(t *testing.T, check string) Result // without a fault
	mutants []mutant
}

// kills tells whether a result is a finding.
func kills(r Result) bool { return r.Status >= OverClaimed }

// fill tries every check on every mutant. It wants the check that is meant for a mutant to
// find it, and for each check a mutant that no other check finds: one that finds nothing of
// its own could be left out.
func (k killTable) fill(t *testing.T) {
	results := make([][]Result, len(k.mutants))
	fine := make([]Result, len(k.checks))
	var all errgroup.Group
	all.SetLimit(8) // much of the time goes by in waiting for others who never come
	for c, check := range k.checks {
		all.Go(func() error {
			fine[c] = k.one(t, check)
			return nil
		})
	}
	for m := range k.mutants {
		results[m] = make([]Result, len(k.checks))
		for c, check := range k.checks {
			all.Go(func() error {
				results[m][c] = k.mutants[m].try(t, check)
				return nil
			})
		}
	}
	require.NoError(t, all.Wait())
	k.print(t, results)
	for c, check := range k.checks {
		require.Equal(t, Pass, fine[c].Status, "%s, where nothing is broken: %s", check, fine[c])
	}
	alone := map[string]bool{}
	for m, one := range k.mutants {
		meant := slices.Index(k.checks, one.check)
		require.GreaterOrEqual(t, meant, 0, "no check %s", one.check)
		r := results[m][meant]
		require.Equal(t, one.want, r.Status, "survived: %s: %s", one.name, r)
		require.NotEmpty(t, r.Rule)
		require.EqualValues(t, 1, r.Seed)
		if len(k.killers(results[m])) == 1 {
			alone[one.check] = true
		}
	}
	for _, check := range k.checks {
		require.True(t, alone[check], "no mutant is found by %s alone", check)
	}
}

func (k killTable) killers(results []Result) (names []string) {
	for c, r := range results {
		if kills(r) {
			names = append(names, k.checks[c])
		}
	}
	return names
}

func (k killTable) print(t *testing.T, results [][]Result) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d mutants, %d checks; who finds them beside the check that is meant to\n", len(k.mutants), len(k.checks))
	for m, one := range k.mutants {
		others := slices.DeleteFunc(k.killers(results[m]), func(check string) bool { return check == one.check })
		r := results[m][max(slices.Index(k.checks, one.check), 0)]
		also := strings.Join(others, ", ")
		if also == "" && kills(r) {
			also = "it alone"
		}
		fmt.Fprintf(&b, "%-70s %-22s %-12s %s\n", one.name, one.check, r.Status, also)
	}
	t.Log(b.String())
}
