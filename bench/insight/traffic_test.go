package insight_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/store/memory"
)

func parse(t require.TestingT, name string) weir.Algorithm {
	a, err := algorithms.Parse(name)
	require.NoError(t, err)
	return a
}

func minute(count int64) weir.Limit { return weir.Limit{Count: count, Window: time.Minute} }

// at is n requests of one client at a second.
func at(second int64, key string, n int) []trace.Event {
	return slices.Repeat([]trace.Event{{Time: second * 1e6, Key: key, Cost: 1}}, n)
}

func decide(t require.TestingT, events []trace.Event, a weir.Algorithm, limit weir.Limit) insight.Outcome {
	o, err := insight.NewTraffic(events).Decide(context.Background(), a, limit)
	require.NoError(t, err)
	return o
}

// Three at the end of a minute and three at the beginning of the next, of one client; one request of another.
func TestDecide(t *testing.T) {
	events := slices.Concat(at(60, "b", 1), at(119, "a", 3), at(120, "a", 3))
	require.Equal(t, insight.Outcome{Algorithm: "fixed-window", Limit: "3/1m", MaxInWindow: 6},
		decide(t, events, parse(t, "fixed-window"), minute(3)))
	require.Equal(t, insight.Outcome{
		Algorithm: "sliding-log", Limit: "3/1m", DeniedClients: 1, ClientsShare: 0.5, Denied: 3, RequestShare: 3. / 7, MaxInWindow: 3,
	}, decide(t, events, parse(t, "sliding-log"), minute(3)))
	// 3 of the minute before, of which 60 of 60 s still count.
	require.Equal(t, insight.Outcome{
		Algorithm: "sliding-counter", Limit: "4/1m", DeniedClients: 1, ClientsShare: 0.5, Denied: 2, RequestShare: 2. / 7, MaxInWindow: 4,
	}, decide(t, events, parse(t, "sliding-counter"), minute(4)))
	// Room for two after a minute, of which a bucket of one takes one.
	require.Equal(t, insight.Outcome{
		Algorithm: "gcra,burst=1", Limit: "2/1m", DeniedClients: 1, ClientsShare: 0.5, Denied: 5, RequestShare: 5. / 7, MaxInWindow: 1, FalseDenied: 5,
	}, decide(t, events, parse(t, "gcra,burst=1"), minute(2)))
}

func TestDecideTellsWhatCannotBe(t *testing.T) {
	large := []trace.Event{{Time: 1e6, Key: "a", Cost: 1500}}
	require.Equal(t, "a cost of 1500: want at most 1000 for sliding-log", decide(t, large, parse(t, "sliding-log"), minute(2000)).NA)
	require.EqualValues(t, 1, decide(t, large, parse(t, "sliding-log"), minute(1000)).Denied, "never")
	require.Contains(t, decide(t, large, parse(t, "packed-log,block=3"), minute(2)).NA, "packed-log block: 3: want 1 to the limit, 2")
	require.Contains(t, decide(t, large, parse(t, "gcra"), minute(0)).NA, "limit count: 0: want")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := insight.NewTraffic(large).Decide(ctx, parse(t, "gcra"), minute(2))
	require.Equal(t, context.Canceled, err)
}

// names are algorithms with and without options.
var names = []string{
	"fixed-window", "fixed-window-first-hit", "sliding-counter", "bucketed-window", "bucketed-window,buckets=3", "gcra", "gcra,burst=2",
	"sliding-log", "ring-log", "ring-log,denied=count", "packed-log", "packed-log,tick=7s", "packed-log,block=2", "packed-log,error=25%",
}

// drawEvents draws traffic of few clients that come in bursts; costly: with costs up to 3.
func drawEvents(t *rapid.T, costly bool) []trace.Event {
	var events []trace.Event
	now := int64(1e15)
	for range rapid.IntRange(1, 40).Draw(t, "events") {
		now += rapid.SampledFrom([]int64{0, 0, 1, 3e6, 20e6, 59_999_999, 60e6, 61e6}).Draw(t, "gap")
		cost := int64(1)
		if costly {
			cost = rapid.Int64Range(0, 3).Draw(t, "cost")
		}
		events = append(events, trace.Event{Time: now, Key: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key"), Cost: cost})
	}
	return events
}

// throughStore decides by a limiter on a store.
func throughStore(t require.TestingT, events []trace.Event, a weir.Algorithm, limit weir.Limit) insight.Outcome {
	o := insight.Outcome{Algorithm: a.String(), Limit: limit.String()}
	st := memory.New(nil)
	defer st.Close()
	var now int64
	w, err := weir.New(a, limit, st, &weir.Options{Clock: func() time.Time { return time.UnixMicro(now) }})
	if err != nil {
		o.NA = err.Error()
		return o
	}
	judge := oracle.NewJudge(limit.Count, limit.Window.Microseconds())
	clients, denied := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		now = e.Time
		d, err := w.Take(context.Background(), e.Key, e.Cost)
		require.NoError(t, err)
		judge.Observe(e.Key, oracle.Observation{Time: now, Cost: e.Cost, Allowed: d.Allowed})
		if clients[e.Key] = true; !d.Allowed {
			denied[e.Key] = true
			o.Denied++
		}
	}
	o.DeniedClients, o.ClientsShare = len(denied), float64(len(denied))/float64(len(clients))
	o.RequestShare = float64(o.Denied) / float64(len(events))
	o.MaxInWindow, o.FalseDenied = judge.Report().MaxInWindow, judge.Report().FalseDenied
	return o
}

func TestDecidesAsAStoreDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events, a := drawEvents(t, true), parse(t, rapid.SampledFrom(names).Draw(t, "algorithm"))
		limit := minute(rapid.Int64Range(2, 9).Draw(t, "limit"))
		require.Equal(t, throughStore(t, events, a, limit), decide(t, events, a, limit))
	})
}
