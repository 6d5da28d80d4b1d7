package backend

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/store"
)

// The server's own count grows by the declared trips of each decision, also where a
// script is new to the server or a key to the plan.
func TestCallsAreDecisions(t *testing.T) {
	for _, c := range []struct {
		url        string
		start      func(context.Context) (*server.Server, error)
		algorithms []weir.Algorithm
	}{
		{"redis:private", startRedis, []weir.Algorithm{algorithms.FixedWindow(), algorithms.GCRA(nil), algorithms.SlidingLog(), algorithms.RingLog(nil)}},
		{"memcache:private", startMemcached, []weir.Algorithm{algorithms.FixedWindow(), algorithms.GCRA(nil), algorithms.SlidingCounter()}},
		{"memcache+counter:private", startMemcached, []weir.Algorithm{algorithms.FixedWindow()}},
	} {
		t.Run(c.url, func(t *testing.T) {
			installed(t, c.start)
			b := open(t, c.url, nil)
			for _, a := range c.algorithms {
				w := limiter(t, b, a, b.NewPrefix())
				before, err := b.Calls(t.Context())
				require.NoError(t, err)
				const keys = 20
				for i := range keys {
					takeFive(t, w, fmt.Sprint("k", i))
				}
				after, err := b.Calls(t.Context())
				require.NoError(t, err)
				want := keys * (3*w.Plan().Trips + 2*w.Plan().DeniedTrips)
				require.EqualValues(t, want, after-before, "%s by %s", a, w.Plan().Name)
			}
		})
	}
}

// A counter that was evicted before it could be given back costs a call all the same.
func TestCallsCountWhatMisses(t *testing.T) {
	installed(t, startMemcached)
	b := open(t, "memcache:private", nil)
	before, err := b.Calls(t.Context())
	require.NoError(t, err)
	_, err = b.Store.(store.Counter).Add(t.Context(), "gone", -1, time.Hour)
	require.NoError(t, err)
	after, err := b.Calls(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, after-before)
}
