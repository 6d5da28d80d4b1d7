package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// smallValues is a store that keeps no value above 64 KiB.
type smallValues struct{ *memory.Store }

func (s smallValues) Traits() store.Traits {
	t := s.Store.Traits()
	t.MaxValue = 64 << 10
	return t
}

// The closed loop raises the limit, so that nothing is denied, but not above what the store has room for.
func TestClosedLoopFitsTheStore(t *testing.T) {
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	a, l := algorithm(t, "packed-log,tick=1us"), limit(t, "10/1h")
	l.Count = 1_000_000
	_, err := weir.New(a, l, smallValues{st}, nil)
	require.ErrorContains(t, err, "keeps at most 65536")

	c := quick(bench.Config{
		Algorithms: []weir.Algorithm{a}, Limit: limit(t, "10/1h"), Scenarios: []bench.Scenario{},
		Backends: []*backend.Backend{{Store: smallValues{st}, Name: "small:", Kind: backend.KindMemory}},
	})
	c.Events = []int64{}
	r := compare(t, c)
	require.Empty(t, r.Incomplete)
	require.Len(t, r.Results[0].Throughput, 2)
	for _, h := range r.Results[0].Throughput {
		require.Positive(t, h.Decisions)
	}
}
