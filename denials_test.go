package weir_test

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// A key is often a few bytes of a request's line. A denial must not keep the rest alive.
func TestADenialKeepsNothingButItsKey(t *testing.T) {
	l, err := weir.CacheDenials(limited(t, 1), nil)
	require.NoError(t, err)
	line := "/?key=mine&" + strings.Repeat("x", 1<<20)
	key := line[6:10]
	for range 2 {
		_, err := l.Take(t.Context(), key, 1)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"mine"}, weir.CachedNames(l))
	require.NotSame(t, unsafe.StringData(key), unsafe.StringData(weir.CachedNames(l)[0]))
}

// What another caller is about to give back can deny for a moment; that moment must not
// become the rest of the window.
func TestASpuriousDenialIsNotKeptForLong(t *testing.T) {
	st := memory.New(nil)
	defer st.Close()
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return now }
	inner, err := weir.New(algorithms.FixedWindow(), weir.Limit{Count: 10, Window: time.Hour}, struct{ store.Counter }{st}, &weir.Options{Clock: clock})
	require.NoError(t, err)
	require.True(t, inner.Plan().Spurious)
	l, err := weir.CacheDenials(inner, &weir.DenialOptions{Clock: clock})
	require.NoError(t, err)
	require.NoError(t, weir.Admit(t.Context(), l, "k", 1))
	_, err = st.Add(t.Context(), inner.Keys("k")[0], 10, time.Hour) // a cost that does not fit,
	require.NoError(t, err)
	require.Error(t, weir.Admit(t.Context(), l, "k", 1))
	_, err = st.Add(t.Context(), inner.Keys("k")[0], -10, time.Hour) // and is given back
	require.NoError(t, err)
	require.Error(t, weir.Admit(t.Context(), l, "k", 1), "believed as yet")
	now = now.Add(time.Second)
	require.NoError(t, weir.Admit(t.Context(), l, "k", 1))
}

// RL-008: the last unit of a hot window is given out, with a cache of denials in the way or without,
// also right after a larger cost was denied and is remembered.
func TestRL008TheLastUnitIsGivenOut(t *testing.T) {
	for _, cached := range []bool{false, true} {
		for _, denyFirst := range []bool{false, true} {
			var l weir.Limiter = limited(t, 10)
			if cached {
				var err error
				l, err = weir.CacheDenials(limited(t, 10), nil)
				require.NoError(t, err)
			}
			take := func(n int64) weir.Decision {
				d, err := l.Take(t.Context(), "k", n)
				require.NoError(t, err)
				return d
			}
			require.EqualValues(t, 1, take(9).Remaining)
			if denyFirst {
				require.False(t, take(2).Allowed)
			}
			tenth := take(1)
			require.True(t, tenth.Allowed)
			require.Zero(t, tenth.Remaining)
			require.False(t, take(1).Allowed)
			require.False(t, take(1).Allowed)
		}
	}
}
