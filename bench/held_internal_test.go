package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// However a key was filled, it holds as many events as it says, and goes on to hold them.
func TestHeldKeysHoldTheirEvents(t *testing.T) {
	servertest.Redis(t)
	servertest.Memcached(t)
	l, err := weir.ParseLimit("10/1s")
	require.NoError(t, err)
	for _, url := range []string{"memory:", "redis:private", "memcache:private", "memcache+counter:private"} {
		b, err := backend.Open(t.Context(), url, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		require.Empty(t, b.StandIn)
		for _, p := range pairs(algorithms.All(), []*backend.Backend{b}, l) {
			if missing, err := p.unsupported(); missing != nil {
				require.NoError(t, err)
				continue
			}
			t.Run(p.String(), func(t *testing.T) {
				const n, oneByOne = 300, 20
				h, err := newHeld(t.Context(), p, n, oneByOne)
				require.NoError(t, err)
				require.EqualValues(t, n, h.next)
				for i := range oneByOne {
					if shape, err := p.algorithm.Shape(l); err == nil && shape.Guarantee.Deficit == 0 && shape.Guarantee.MaxInWindow == l.Count {
						h.now = h.at(h.next - 1)
						d, err := h.limiter.Peek(t.Context(), h.key)
						require.NoError(t, err)
						require.EqualValues(t, heldLimit(l, n).Count-n, d.Remaining, "after %d more", i)
					}
					require.NoError(t, h.take(t.Context(), 1))
				}
			})
		}
	}
}

func TestStrideMeetsEachKeyOnce(t *testing.T) {
	for _, n := range []int64{1, 2, 10, 60, 100, 999, 1000, 10_000} {
		seen := map[int64]bool{}
		for i := range n {
			seen[i*stride(n)%n] = true
		}
		require.Len(t, seen, int(n))
	}
}
