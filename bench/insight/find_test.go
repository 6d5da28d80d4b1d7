package insight_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/trace"
)

func find(t require.TestingT, events []trace.Event, name string, goal insight.Goal) insight.Found {
	f, err := insight.NewTraffic(events).Find(context.Background(), parse(t, name), time.Minute, goal)
	require.NoError(t, err)
	return f
}

// Ten clients send 1 to 10 requests within one minute each: at a limit of n, 10-n of them are denied, and the sum
// of 1 to 10-n of the 55 requests.
func stairs() (events []trace.Event) {
	for n := range 10 {
		events = append(events, at(int64(1000+n), string(rune('a'+n)), n+1)...)
	}
	return events
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		goal        insight.Goal
		limit       int64
		clients     int
		denied      int64
		lessClients int
		lessDenied  int64
	}{
		{insight.Goal{Of: insight.Clients}, 10, 0, 0, 1, 1},
		{insight.Goal{Of: insight.Clients, Most: 0.1}, 9, 1, 1, 2, 3},
		{insight.Goal{Of: insight.Clients, Most: 0.29}, 8, 2, 3, 3, 6},
		{insight.Goal{Of: insight.Clients, Most: 0.3}, 7, 3, 6, 4, 10},
		{insight.Goal{Of: insight.Requests}, 10, 0, 0, 1, 1},
		{insight.Goal{Of: insight.Requests, Most: 0.1}, 8, 2, 3, 3, 6},   // 5 of 55
		{insight.Goal{Of: insight.Requests, Most: 0.11}, 7, 3, 6, 4, 10}, // 6 of 55
	} {
		for _, name := range []string{"sliding-log", "ring-log", "packed-log", "fixed-window-first-hit", "gcra"} {
			f := find(t, stairs(), name, c.goal)
			require.Equal(t, c.limit, f.Limit, "%s: %s", name, c.goal)
			require.Equal(t, []int64{int64(c.clients), c.denied}, []int64{int64(f.Outcome.DeniedClients), f.Outcome.Denied})
			require.Equal(t, []int64{int64(c.lessClients), c.lessDenied}, []int64{int64(f.OneLess.DeniedClients), f.OneLess.Denied})
			require.EqualValues(t, 1, f.RuledOut)
			require.Equal(t, c.goal, f.Goal)
			require.EqualValues(t, 60e6, f.WindowUS)
		}
	}
	all := find(t, stairs(), "gcra", insight.Goal{Of: insight.Clients, Most: 1})
	require.EqualValues(t, 1, all.Limit)
	require.Nil(t, all.OneLess)
}

func TestFindWhereNoLimitWill(t *testing.T) {
	f := find(t, stairs(), "gcra,burst=3", insight.Goal{Of: insight.Clients, Most: 0.5})
	require.Zero(t, f.Limit)
	require.Equal(t, "no limit up to 1,000,000,000 meets it", f.NA)
	f = find(t, stairs(), "packed-log,block=4", insight.Goal{Of: insight.Clients, Most: 1})
	require.EqualValues(t, 4, f.Limit, "no limit is below the block")
	require.Contains(t, f.OneLess.NA, "packed-log block")
	large := []trace.Event{{Time: 1e6, Key: "a", Cost: 1500}}
	f = find(t, large, "sliding-log", insight.Goal{Of: insight.Clients})
	require.Equal(t, "a cost of 1500: want at most 1000 for sliding-log", f.NA)
}

// A request for four, then four for one. At a limit of 3 the first is denied, and one of the others; at 4 all the
// others are, at 5 three of them, at 6 two. So 3 denies no more than 6, which is what is found first.
func TestAHigherLimitMayDenyMore(t *testing.T) {
	events := slices.Concat([]trace.Event{{Time: 1e6, Key: "a", Cost: 4}}, at(2, "a", 4))
	for limit, denied := range []int64{1: 4, 2: 3, 3: 2, 4: 4, 5: 3, 6: 2, 7: 1, 8: 0} {
		if limit > 0 {
			require.Equal(t, denied, decide(t, events, parse(t, "sliding-log"), minute(int64(limit))).Denied)
		}
	}
	f := find(t, events, "sliding-log", insight.Goal{Of: insight.Requests, Most: 0.4})
	require.EqualValues(t, 3, f.Limit)
	require.EqualValues(t, 1, f.RuledOut)
	require.EqualValues(t, 3, f.OneLess.Denied)
}

// 0.29 of a hundred is 29, although not in floating point.
func TestGoalCountsExactly(t *testing.T) {
	var events []trace.Event
	for i := range 100 {
		n := 1
		if i < 29 {
			n = 2
		}
		events = append(events, at(1, fmt.Sprint(i), n)...)
	}
	require.EqualValues(t, 1, find(t, events, "gcra", insight.Goal{Of: insight.Clients, Most: 0.29}).Limit)
	require.EqualValues(t, 2, find(t, events, "gcra", insight.Goal{Of: insight.Clients, Most: 0.289}).Limit)
}

func TestFindRefusesWhatIsNoGoal(t *testing.T) {
	traffic, a := insight.NewTraffic(stairs()), parse(t, "gcra")
	for want, ask := range map[string]func() (insight.Found, error){
		`weir: goal: "keys": want clients or requests`: func() (insight.Found, error) {
			return traffic.Find(t.Context(), a, time.Minute, insight.Goal{Of: "keys"})
		},
		"weir: goal share: 1.5: want 0 to 1": func() (insight.Found, error) {
			return traffic.Find(t.Context(), a, time.Minute, insight.Goal{Of: insight.Clients, Most: 1.5})
		},
		"weir: limit window: 0s": func() (insight.Found, error) {
			return traffic.Find(t.Context(), a, 0, insight.Goal{Of: insight.Clients})
		},
		"context canceled": func() (insight.Found, error) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return traffic.Find(ctx, a, time.Minute, insight.Goal{Of: insight.Clients})
		},
	} {
		_, err := ask()
		require.ErrorContains(t, err, want)
	}
}

// What is found is what trying every limit on a store finds.
func TestFindAgainstEveryLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events, a := drawEvents(t, rapid.Bool().Draw(t, "costly")), parse(t, rapid.SampledFrom(names).Draw(t, "algorithm"))
		goal := insight.Goal{Of: rapid.SampledFrom([]string{insight.Clients, insight.Requests}).Draw(t, "of")}
		goal.Most = rapid.SampledFrom([]float64{0, 0.1, 0.25, 0.5}).Draw(t, "most")
		var want int64
		var outcome insight.Outcome
		for want = 1; ; want++ {
			outcome = throughStore(t, events, a, minute(want))
			if share := map[string]float64{insight.Clients: outcome.ClientsShare, insight.Requests: outcome.RequestShare}; outcome.NA == "" && share[goal.Of] <= goal.Most {
				break
			}
			if want == 130 { // above all costs together
				want = 0
				break
			}
		}
		f := find(t, events, a.String(), goal)
		if want == 0 { // a burst that is too small: a higher limit may do, by refilling quickly
			require.True(t, f.Limit == 0 || f.Limit > 130, "%+v", f)
			return
		}
		require.Equal(t, want, f.Limit)
		require.Equal(t, outcome, *f.Outcome)
		require.EqualValues(t, 1, f.RuledOut)
		if want > 1 {
			less := throughStore(t, events, a, minute(want-1))
			if less.NA != "" {
				less.NA = f.OneLess.NA
			}
			require.Equal(t, less, *f.OneLess)
		}
	})
}
