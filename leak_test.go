package weir_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// RL-103: limiters and all that is put around them are values: a thousand of them on one store, made at each
// change of a configuration and dropped, leave no goroutine, and need no Close.
func TestRL103LimitersLeaveNothing(t *testing.T) {
	st := memory.New(nil)
	defer func() { require.NoError(t, st.Close()) }()
	before := runtime.NumGoroutine()
	for i := range 1000 {
		all := algorithms.All()
		inner, err := weir.New(all[i%len(all)], weir.Limit{Count: 1, Window: time.Hour}, st, nil)
		require.NoError(t, err)
		cached, err := weir.CacheDenials(inner, nil)
		require.NoError(t, err)
		l := weir.NewShadow(weir.FailOpen(cached, nil))
		for range 2 {
			_, err := l.Take(t.Context(), "k", 1)
			require.NoError(t, err)
		}
	}
	// One goroutine more is the one that asks here.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 10*time.Second, 10*time.Millisecond)
}
