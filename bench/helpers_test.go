package bench_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// open opens a store URL until the test ends.
func open(t *testing.T, url string) *backend.Backend {
	t.Helper()
	b, err := backend.Open(t.Context(), url, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// openReal opens memory and two private servers.
func openReal(t *testing.T) []*backend.Backend {
	t.Helper()
	servertest.Redis(t) // skips or fails where the programs are missing, so that no stand-in is taken
	servertest.Memcached(t)
	all := []*backend.Backend{open(t, "memory:"), open(t, "redis:private"), open(t, "memcache:private")}
	for _, b := range all {
		require.Empty(t, b.StandIn)
	}
	return all
}

func limit(t *testing.T, text string) weir.Limit {
	t.Helper()
	l, err := weir.ParseLimit(text)
	require.NoError(t, err)
	return l
}

func algorithm(t *testing.T, text string) weir.Algorithm {
	t.Helper()
	a, err := algorithms.Parse(text)
	require.NoError(t, err)
	return a
}

// precisionOnly leaves out what takes real time.
func precisionOnly(c bench.Config) bench.Config {
	c.Events, c.Callers = []int64{}, []int{}
	return c
}

func compare(t *testing.T, c bench.Config) *bench.Results {
	t.Helper()
	r, err := bench.Compare(t.Context(), c, nil)
	require.NoError(t, err)
	return r
}

func find(t *testing.T, r *bench.Results, algorithm, store string) bench.Result {
	t.Helper()
	i := slices.IndexFunc(r.Results, func(res bench.Result) bool { return res.Algorithm == algorithm && res.Store == store })
	require.GreaterOrEqual(t, i, 0, "%s on %s", algorithm, store)
	return r.Results[i]
}

// burst is n requests of cost 1 from start on, a gap apart.
func burst(start time.Time, gap time.Duration, n int, key string) []trace.Event {
	var events []trace.Event
	for i := range n {
		events = append(events, trace.Event{Time: start.Add(time.Duration(i) * gap).UnixMicro(), Key: key, Cost: 1})
	}
	return events
}

// mutant is a store in this process that runs a changed step: what a mistake in an algorithm's core
// would make of it.
type mutant struct {
	*memory.Store
	change func(params []int64)
}

func (m *mutant) Prepare(step *store.Step, space string) (store.Runner, error) {
	changed := *step
	changed.Func = func(state []byte, a store.Args) store.Result {
		a.Params = slices.Clone(a.Params)
		m.change(a.Params)
		return step.Func(state, a)
	}
	return m.Store.Prepare(&changed, space)
}

func openMutant(t *testing.T, change func(params []int64)) *backend.Backend {
	t.Helper()
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return &backend.Backend{Store: &mutant{Store: st, change: change}, Name: "mutant:", Kind: backend.KindMemory}
}

// cancelAt returns a progress that ends the run when the n-th piece begins.
func cancelAt(cancel context.CancelFunc, n int) bench.Progress {
	return func(_ string, done, _ int) {
		if done == n {
			cancel()
		}
	}
}

// shortLived is a store that keeps no key longer than an hour.
type shortLived struct{ store.Store }

func (s shortLived) Traits() store.Traits {
	t := s.Store.Traits()
	t.MaxTTL = time.Hour
	return t
}

func (s shortLived) Prepare(step *store.Step, space string) (store.Runner, error) {
	return s.Store.(store.Scripter).Prepare(step, space)
}
