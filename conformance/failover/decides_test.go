package failover_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/store/memory"
)

// odd are keys that could take a decision's keys to several slots, or to one that was not meant.
var odd = []string{"", "{", "}", "{}", "}{", "{}a", "{a", "a}", "{a}b", "{{a}}", "a{b}c{d}", "{\x00}", "\xff{\r\n}"}

// One history in simulated time is decided as a store in this process decides it, and its keys lie on all masters,
// those of one decision together.
func TestDecidesAsMemory(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *together) {
		st, inProcess := s.open(t), memory.New(nil)
		defer inProcess.Close()
		keys := append([]string(nil), odd...)
		for i := range 20 {
			keys = append(keys, fmt.Sprint("client ", i))
		}
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		clock := func() time.Time { return now }
		limit := weir.Limit{Count: 5, Window: 10 * time.Second}
		all := append(algorithms.All(), weir.Layered(algorithms.GCRA(nil), weir.Layer{
			Algorithm: algorithms.FixedWindow(), Limit: weir.Limit{Count: 3, Window: time.Second},
		}))
		for _, a := range all {
			there, here := limiter(t, a, limit, st, clock), limiter(t, a, limit, inProcess, clock)
			random := rand.New(rand.NewPCG(1, 2))
			admitted := 0
			for i := range 300 {
				now = now.Add(time.Duration(random.Int64N(int64(300 * time.Millisecond)))).Truncate(time.Microsecond)
				key, cost := keys[i%len(keys)], 1+random.Int64N(3)
				if i%3 == 0 {
					key = keys[random.IntN(3)]
				}
				want, err := here.Take(t.Context(), key, cost)
				require.NoError(t, err)
				got, err := there.Take(t.Context(), key, cost)
				require.NoError(t, err)
				require.Equal(t, want, got, "%s: request %d, of %d from %q", a, i, cost, key)
				if want.Allowed {
					admitted++
				}
			}
			require.Greater(t, admitted, 50, a)
			require.Less(t, admitted, 290, a)
		}
		for _, master := range s.masters {
			n, err := client(t, master).DBSize(t.Context()).Result()
			require.NoError(t, err)
			require.Greater(t, n, int64(len(all)), "keys on %s", master.Addr)
		}
		if len(s.masters) > 1 {
			oneSlot(t, s.masters[0])
		}
	})
}

// oneSlot wants all keys of one decision in one slot, by every plan there is, as the server itself counts slots.
func oneSlot(t *testing.T, node *server.Server) {
	several := 0
	limit := weir.Limit{Count: 5, Window: time.Minute}
	st := memory.New(nil)
	defer st.Close()
	for _, a := range algorithms.All() {
		shape, err := a.Shape(limit)
		require.NoError(t, err)
		for _, plan := range shape.Plans {
			w := limiter(t, onePlan{a, plan.Name}, limit, st, nil)
			for _, key := range odd {
				names := w.Keys(key)
				for _, name := range names[1:] {
					several++
					require.Equal(t, slot(t, node, names[0]), slot(t, node, name), "%s by %s: %q", a, plan.Name, name)
				}
			}
		}
	}
	require.Positive(t, several, "else this proves nothing")
}

// onePlan is an algorithm with one of its plans alone.
type onePlan struct {
	weir.Algorithm
	plan string
}

func (o onePlan) Shape(l weir.Limit) (weir.Shape, error) {
	shape, err := o.Algorithm.Shape(l)
	for _, p := range shape.Plans {
		if p.Name == o.plan {
			shape.Plans = []weir.Plan{p}
			return shape, err
		}
	}
	return shape, err
}
