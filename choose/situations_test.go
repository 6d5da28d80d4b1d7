package choose_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/choose"
	"github.com/weirlimits/weir/store"
)

func limits(t testing.TB, text string) []weir.Limit {
	t.Helper()
	l, err := weir.ParseLimits(text)
	require.NoError(t, err)
	return l
}

func named(t testing.TB, name string) store.Traits {
	t.Helper()
	traits, err := choose.Named(name)
	require.NoError(t, err)
	return traits
}

func evicting(t store.Traits) store.Traits {
	t.Evicts = true
	return t
}

// situation is what somebody has and needs, and what an expert would answer.
type situation struct {
	name  string
	store store.Traits
	limit string
	want  choose.Want

	best    string
	within  bool
	reason  []string          // what it must name
	refused map[string]string // by algorithm: what its refusal must say
	changes []string
	notes   []string
}

func situations(t testing.TB) []situation {
	redis, memcache := named(t, "redis"), named(t, "memcache")
	return []situation{
		{
			name: "a public home page on memcached", store: memcache, limit: "100/1m",
			want: choose.Want{Clients: 5_000_000, Over: 1},
			best: "fixed-window+5/1s", within: true,
			reason: []string{
				"up to 200 in one window", "never more than 10 in any 1s", "2 round trips",
				"An exact log, packed-log,tick=1us, would take 480 bytes a client, 2.4 GB in all, 2.5 times as much",
				"given up for that is the bound",
			},
			refused: map[string]string{"sliding-log": "needs sorted set + script", "sliding-counter": "100 % of the limit"},
			changes: []string{"With nothing tolerated (over=0, deny=0): packed-log,tick=1us"},
			notes:   []string{"unless a key is evicted", "each caller brings its own"},
		},
		{
			name: "an exact limit on Redis", store: redis, limit: "100/1m",
			want: choose.Want{Clients: 10_000, Memory: 1e9},
			best: "packed-log,tick=1us", within: true,
			reason: []string{
				"never admits more than 100 in any window and denies nothing without need",
				"fixed-window would take 148 bytes and admit up to 200",
				"sliding-log decides the same and is affordable too, at 2,188 bytes a client, 22 MB in all, 4.7 times as much",
			},
			changes: []string{"(over=100%): fixed-window+5/1s", "(deny=5%): bucketed-window"},
			notes:   []string{"Clock: the server's"},
		},
		{
			name: "a high limit for a million addresses in 2 GB", store: redis, limit: "10000/1s",
			want: choose.Want{Clients: 1_000_000, Memory: 2e9},
			best: "packed-log,tick=1us,error=1%",
			reason: []string{
				"never admits more than 10,000 in any window", "372 MB in all",
				"An exact log, packed-log,tick=1us, would take 10 GB of 2 GB", "a few early denials, not the bound",
				"sliding-log would take 1.4 TB of 2 GB",
			},
			refused: map[string]string{"sliding-log": "1.4 TB of 2 GB", "ring-log": "101 GB of 2 GB", "fixed-window": "20,000 in a window"},
			changes: []string{"With 10 GB instead of 2 GB: packed-log,tick=1us", "(over=100%): fixed-window+3000/100ms"},
			notes:   []string{"Nothing that runs and fits keeps to what is tolerated (over=0,deny=0)"},
		},
		{
			name: "a login, by address and by account", store: redis, limit: "10/15m",
			want: choose.Want{Clients: 100_000, Keys: 2},
			best: "packed-log,tick=1us", within: true,
			reason: []string{"never admits more than 10 in any window", "2 round trips", "admit up to 20"},
			notes:  []string{"That is not atomic", "one address that tries many accounts", "many addresses that try one"},
		},
		{
			name: "billing by a monthly quota", store: redis, limit: "5000/30d",
			want: choose.Want{Clients: 5000, Aligned: true},
			best: "fixed-window", within: true,
			reason: []string{
				"never admits more than 5,000 in one aligned window",
				"hold to the limit in every sliding window too, for 29 kB a client", "deny what the quota still allows",
			},
		},
		{
			name: "a quota over any thirty days", store: redis, limit: "5000/30d",
			want: choose.Want{Clients: 5000},
			best: "packed-log,tick=1us", within: true,
			reason:  []string{"144 MB in all", "remember when each request came"},
			changes: []string{"If the limit is meant for aligned windows, as quotas are billed: fixed-window"},
		},
		{
			name: "tokens of a language model", store: redis, limit: "1000000/24h",
			want: choose.Want{Clients: 10_000, Cost: 2000},
			best: "packed-log,tick=1us", within: true,
			reason:  []string{"42 MB in all", "sliding-log, with an entry for each, takes a cost of 1,000 at most, not 2,000"},
			refused: map[string]string{"sliding-log": "takes 1,000 at most", "ring-log": "takes 1,000 at most"},
			notes:   []string{"Refund gives the rest back"},
		},
		{
			name: "a store with a counter alone", store: named(t, "memcache+counter"), limit: "100/1m",
			want: choose.Want{Clients: 10_000},
			best: "fixed-window",
			reason: []string{
				"up to 200 in one window", "1 round trip", "what is given up is the bound: 200 can come in one window",
				"no cage softens it: fixed-window+5/1s needs script or compare-and-swap",
			},
			refused: map[string]string{"packed-log": "needs script or compare-and-swap", "gcra": "needs script or compare-and-swap"},
			changes: []string{
				"With Redis instead of memcache: packed-log,tick=1us",
				"With compare-and-swap, which memcached has: packed-log,tick=1us",
			},
			notes: []string{"The bound is given up last", "Plan counter adds first and takes back"},
		},
		{
			name: "an exact limit on memcached", store: memcache, limit: "100/1m",
			want: choose.Want{Clients: 10_000},
			best: "packed-log,tick=1us", within: true,
			reason: []string{
				"480 bytes a client", "2 round trips", "fixed-window would take 120 bytes and admit up to 200",
				"sliding-log needs sorted set + script",
			},
			notes: []string{"one that is ahead by d admits what d refills", "unless a key is evicted"},
		},
		{
			name: "a single process", store: named(t, "memory"), limit: "100/1m",
			want: choose.Want{Clients: 10_000},
			best: "packed-log,tick=1us", within: true,
			reason: []string{"denies nothing without need", "sliding-log decides the same"},
			notes:  []string{"with n processes a client has n times the limit"},
		},
		{
			name: "address and account in a Redis Cluster", store: redis, limit: "100/1m",
			want: choose.Want{Clients: 10_000, Keys: 2, Cluster: true},
			best: "packed-log,tick=1us", within: true,
			reason: []string{"2 round trips"},
			notes: []string{
				"different slots, which no script can join", "A hash tag puts them in one only where both hold it",
				"gives back what a denied request had taken",
			},
		},
		{
			name: "a managed Redis that evicts", store: evicting(redis), limit: "100/1m",
			want: choose.Want{Clients: 10_000},
			best: "packed-log,tick=1us", within: true,
			reason: []string{"never admits more than 100 in any window, unless evicted,"},
			notes:  []string{"holds unless a key is evicted", "100 more at worst", "maxmemory-policy noeviction"},
		},
		{
			name: "five percent over by contract", store: redis, limit: "100/1m",
			want: choose.Want{Clients: 10_000, Over: 0.05, Deny: 1},
			best: "gcra,burst=6", within: true,
			reason: []string{
				"up to 105 in one window", "no more than 6 at once",
				"An exact log, packed-log,tick=1us, would take 468 bytes a client", "the bound, by up to 5 %",
			},
			refused: map[string]string{"gcra": "199 in a window: 105 are tolerated"},
			changes: []string{"(over=0, deny=0): packed-log,tick=1us", "(over=100%): fixed-window+5/1s"},
		},
	}
}

// TestSituations asks what people ask. Nothing of it is known to the package: every answer follows from what is
// declared and measured.
func TestSituations(t *testing.T) {
	t.Parallel()
	for _, s := range situations(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.want.Limits = limits(t, s.limit)
			a, err := choose.For(s.store, s.want)
			require.NoError(t, err)
			require.NotNil(t, a.Best)
			require.Equal(t, s.best, a.Best.Algorithm.String(), "%s", a.Reason)
			require.Equal(t, s.within, a.Within)
			for _, part := range s.reason {
				require.Contains(t, a.Reason, part)
			}
			require.Equal(t, 2, strings.Count(a.Reason+" ", ". "), "two sentences: %s", a.Reason)
			for name, part := range s.refused {
				require.Contains(t, refusalOf(a, name), part, name)
			}
			for _, part := range s.changes {
				require.Contains(t, strings.Join(a.Changes, "\n"), part)
			}
			for _, part := range s.notes {
				require.Contains(t, strings.Join(a.Notes, "\n"), part)
			}
		})
	}
}

func refusalOf(a *choose.Answer, name string) string {
	for _, c := range a.Refused {
		if c.Algorithm.String() == name {
			return c.Refused
		}
	}
	return "not refused"
}
