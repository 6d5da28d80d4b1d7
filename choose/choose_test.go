package choose_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/choose"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memory"
	"github.com/weirlimits/weir/store/redis"
)

func answer(t *testing.T, traits store.Traits, limit string, want choose.Want) *choose.Answer {
	t.Helper()
	want.Limits = limits(t, limit)
	if want.Clients == 0 {
		want.Clients = 1000
	}
	a, err := choose.For(traits, want)
	require.NoError(t, err)
	return a
}

// What is described is what the stores say themselves.
func TestNamedStoresAreTheRealOnes(t *testing.T) {
	t.Parallel()
	r, err := redis.Open("redis://localhost:1/0", &redis.Options{NoEviction: true})
	require.NoError(t, err)
	m, err := memcache.Open([]string{"localhost:1"}, nil)
	require.NoError(t, err)
	inProcess := memory.New(nil)
	for name, st := range map[string]store.Store{"memory": inProcess, "redis": r, "memcache": m, "memcache+counter": m.CounterOnly()} {
		want, have := st.Traits(), named(t, name)
		require.LessOrEqual(t, have.MaxTTL, want.MaxTTL, name) // memcached's clock ends one day
		require.Greater(t, have.MaxTTL, want.MaxTTL-50*24*3600*1e9, name)
		have.MaxTTL = want.MaxTTL
		require.Equal(t, want, have, name)
		require.NoError(t, st.Close())
	}
	_, err = choose.Named("mysql")
	require.ErrorContains(t, err, `store: "mysql": want memory, redis, memcache or`)
}

// Every candidate that is ranked can be made, and by the plan that was weighed.
func TestRankedCandidatesRun(t *testing.T) {
	t.Parallel()
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for _, limit := range []string{"1/1ms", "7/1s", "100/1m", "100/1m+500/1h", "1000000000/10s"} {
		a := answer(t, st.Traits(), limit, choose.Want{Over: choose.AnyOver, Deny: 1, Cost: 1})
		require.NotEmpty(t, a.Ranked)
		require.Equal(t, a.Best, &a.Ranked[0])
		for _, c := range a.Ranked {
			require.Empty(t, c.Refused)
			l, err := weir.New(c.Algorithm, a.Want.Limits[0], st, nil)
			require.NoError(t, err, "%s at %s", c.Algorithm, limit)
			require.Equal(t, l.Plan().Name, c.Plan.Name)
			require.Positive(t, c.Bytes.Full)
		}
	}
}

// A tolerance is kept by what is declared; of what may be, the smallest is best, and more tolerance never costs more.
func TestMoreToleranceNeverCostsMore(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"redis", "memcache"} {
		last := 0.0
		for _, over := range []float64{1, 0.05, 0} {
			for _, deny := range []float64{1, 0.05, 0} {
				a := answer(t, named(t, name), "100/1m", choose.Want{Over: over, Deny: deny})
				require.True(t, a.Within)
				smallest := a.Ranked[0].Bytes.Full
				for _, c := range a.Ranked {
					require.LessOrEqual(t, float64(c.MaxInWindow), (1+over)*100+1e-6)
					require.LessOrEqual(t, c.Deny, deny+1e-6)
					smallest = min(smallest, c.Bytes.Full)
				}
				bare := slices.IndexFunc(a.Ranked, func(c choose.Candidate) bool { return c.Algorithm.Name() != "layered" })
				require.LessOrEqual(t, a.Ranked[bare].Bytes.Full, smallest*1.1+1)
				if deny == 0 {
					require.GreaterOrEqual(t, smallest, last, "%s, over %v", name, over)
					last = smallest
				}
			}
		}
	}
}

// The burst of gcra is the largest that keeps to the tolerance, and no larger.
func TestBurstFollowsTheTolerance(t *testing.T) {
	t.Parallel()
	for over, want := range map[float64]string{0.05: "gcra,burst=6", 0.1: "gcra,burst=11", 0.005: "gcra,burst=1", 0.99: "gcra"} {
		a := answer(t, named(t, "redis"), "100/1m", choose.Want{Over: over, Deny: 1})
		i := slices.IndexFunc(a.Ranked, func(c choose.Candidate) bool { return c.Algorithm.Name() == "gcra" })
		require.Equal(t, want, a.Ranked[i].Algorithm.String())
		require.Equal(t, int64(100+over*100), a.Ranked[i].MaxInWindow)
	}
}

// What clients do decides what is to be expected; what they may do is the full figure.
func TestExpectedMemoryFollowsActivity(t *testing.T) {
	t.Parallel()
	redis := named(t, "redis")
	full := answer(t, redis, "1000/1h", choose.Want{}).Best.Bytes
	require.Equal(t, full.Full, full.Expected)
	idle := answer(t, redis, "1000/1h", choose.Want{Held: []int64{1, 1, 1, 1000}}).Best.Bytes
	require.Equal(t, full.Full, idle.Full)
	one := answer(t, redis, "1000/1h", choose.Want{Held: []int64{1}}).Best.Bytes.Expected
	require.InDelta(t, (3*one+full.Full)/4, idle.Expected, 0.01)

	// Clients that hold one request cost the same in a sorted set; one that uses all does not.
	few := answer(t, redis, "100/1m", choose.Want{Held: []int64{1}})
	require.Equal(t, "packed-log,tick=1us", few.Best.Algorithm.String())

	tight := choose.Want{Held: []int64{1, 2, 3}, Clients: 1_000_000, Memory: 1e9}
	a := answer(t, redis, "1000/1h", tight)
	require.True(t, a.Within)
	require.Contains(t, strings.Join(a.Notes, "\n"), "if every client used its whole limit at once, 5.3 GB")
	tight.Held = nil
	require.False(t, answer(t, redis, "1000/1h", tight).Within)
}

// Errors seen on the caller's traffic take the place of those that were measured once.
func TestSeenErrors(t *testing.T) {
	t.Parallel()
	want := choose.Want{Over: 1}
	a := answer(t, named(t, "redis"), "100/1m", want)
	fixed := func(a *choose.Answer) choose.Candidate {
		return a.Ranked[slices.IndexFunc(a.Ranked, func(c choose.Candidate) bool { return c.Algorithm.String() == "fixed-window" })]
	}
	require.Greater(t, fixed(a).Errors.Over, 0.2)
	want.Seen = map[string]choose.Errors{"fixed-window": {Over: 0.001, Admitted: 1}}
	a = answer(t, named(t, "redis"), "100/1m", want)
	require.Equal(t, 0.001, fixed(a).Errors.Over)
	require.Nil(t, a.Best.Errors, "the cage was not looked at")
}

// A store of one's own has a class like any other, and honest figures.
func TestAnUnknownStore(t *testing.T) {
	t.Parallel()
	own := store.Traits{Name: "postgres", Capabilities: store.CapCounter | store.CapSwap, MaxTTL: named(t, "redis").MaxTTL, MaxValue: 1 << 20}
	a := answer(t, own, "100/1m", choose.Want{})
	require.Equal(t, "packed-log,tick=1us", a.Best.Algorithm.String())
	require.True(t, a.Best.Bytes.Partly)
	require.Zero(t, a.Best.Speed)
	require.Contains(t, strings.Join(a.Notes, "\n"), "Nobody measured this store")

	own.Capabilities = store.CapList
	a = answer(t, own, "100/1m", choose.Want{})
	require.Nil(t, a.Best)
	require.False(t, a.Within)
	require.Contains(t, a.Reason, "Nothing can run: postgres has list")
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	short := named(t, "redis")
	short.MaxTTL = 3600 * 1e9
	a := answer(t, short, "10/1d", choose.Want{Over: choose.AnyOver, Deny: 1})
	require.Contains(t, refusalOf(a, "gcra"), "the store keeps none longer than 1h0m0s")

	small := named(t, "memcache")
	small.MaxValue = 500
	a = answer(t, small, "100/1m", choose.Want{})
	require.Regexp(t, `^a key may need 590 bytes: the store keeps 500 bytes at most$`, refusalOf(a, "packed-log,tick=1us"))

	a = answer(t, named(t, "redis"), "100/1m", choose.Want{Cost: 7, Over: 0.05, Deny: 1})
	require.Contains(t, refusalOf(a, "gcra,burst=6"), "a request costs up to 7: an instant admits 6 at most")

	a = answer(t, named(t, "redis"), "100/1m", choose.Want{Clients: 1e9, Memory: 1e9})
	require.Nil(t, a.Best)
	require.Regexp(t, "^Nothing fits: the smallest, fixed-window, takes 148 GB of 1 GB", a.Reason)
}

func TestWrongWants(t *testing.T) {
	t.Parallel()
	limit := limits(t, "10/1s")
	for want, w := range map[string]choose.Want{
		"limits: none":                      {Clients: 1},
		"limit count: 0":                    {Clients: 1, Limits: []weir.Limit{{}}},
		"clients: 0":                        {Limits: limit},
		"memory: -1":                        {Clients: 1, Limits: limit, Memory: -1},
		"over: -0.1":                        {Clients: 1, Limits: limit, Over: -0.1},
		"deny: 1.1":                         {Clients: 1, Limits: limit, Deny: 1.1},
		"cost: 11: want 1 to the limit, 10": {Clients: 1, Limits: limit, Cost: 11},
		"keys: 17":                          {Clients: 1, Limits: limit, Keys: 17},
		"held: -1":                          {Clients: 1, Limits: limit, Held: []int64{3, -1}},
	} {
		_, err := choose.For(named(t, "redis"), w)
		var field *weir.FieldError
		require.ErrorAs(t, err, &field)
		require.ErrorContains(t, err, want)
	}
}

// Each key of a request, and each layer of a log on Redis, has a state of its own.
func TestKeysAndLayersAddUp(t *testing.T) {
	t.Parallel()
	redis := named(t, "redis")
	one := answer(t, redis, "100/1m", choose.Want{}).Best
	two := answer(t, redis, "100/1m", choose.Want{Keys: 2}).Best
	require.Equal(t, 2*one.Bytes.Full, two.Bytes.Full)
	require.Equal(t, 2*one.Trips, two.Trips)

	long, short, both := answer(t, redis, "100/1m", choose.Want{}), answer(t, redis, "5/1s", choose.Want{}), answer(t, redis, "100/1m+5/1s", choose.Want{})
	for _, name := range []string{"packed-log,tick=1us", "ring-log", "sliding-log"} {
		full := func(a *choose.Answer, name string) float64 {
			return a.Ranked[slices.IndexFunc(a.Ranked, func(c choose.Candidate) bool { return c.Algorithm.String() == name })].Bytes.Full
		}
		require.InDelta(t, full(long, name)+full(short, name), full(both, name+"+5/1s"), 0.01, "of the short layer as many as it admits")
	}
}

func TestEveryAlgorithmIsWeighed(t *testing.T) {
	t.Parallel()
	a := answer(t, named(t, "memcache"), "100/1m", choose.Want{})
	for _, e := range algorithms.Registry() {
		require.True(t, slices.ContainsFunc(slices.Concat(a.Ranked, a.Refused), func(c choose.Candidate) bool {
			return c.Algorithm.Name() == e.Name
		}), e.Name)
	}
}
