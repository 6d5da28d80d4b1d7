package failover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/redis"
)

// A primary that must not write, for want of replicas, is an error of every algorithm, and nothing is counted.
func TestTooFewReplicasIsAnError(t *testing.T) {
	t.Parallel()
	s := servertest.Redis(t)
	st, err := redis.Open("redis://"+s.Addr, nil)
	require.NoError(t, err)
	defer st.Close()
	set := func(replicas string) {
		require.NoError(t, client(t, s).ConfigSet(t.Context(), "min-replicas-to-write", replicas).Err())
	}
	for _, a := range algorithms.All() {
		w := limiter(t, a, weir.Limit{Count: 5, Window: ages}, st, nil)
		set("1")
		_, err := w.Take(t.Context(), "k", 1)
		require.ErrorContains(t, err, "NOREPLICAS", a)
		set("0")
		d, err := w.Take(t.Context(), "k", 5)
		require.NoError(t, err)
		require.True(t, d.Allowed, a)
	}
}
