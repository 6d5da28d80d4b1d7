package storetest

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

// ClosedLeaveNothing opens a thousand stores, uses and closes each twice, and requires that no goroutine is left
// here and no connection there, as connected counts them.
func ClosedLeaveNothing(t *testing.T, open func() (store.Store, error), connected func() int) {
	connections, goroutines := connected(), runtime.NumGoroutine()
	for range 1000 {
		st, err := open()
		require.NoError(t, err)
		l, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 5, Window: time.Hour}, st, nil)
		require.NoError(t, err)
		_, err = l.Take(context.Background(), "k", 1)
		require.NoError(t, err)
		require.NoError(t, st.Close())
		require.NoError(t, st.Close())
		_, err = l.Take(context.Background(), "k", 1)
		require.ErrorIs(t, err, store.ErrClosed)
	}
	require.Eventually(t, func() bool { return connected() <= connections }, 10*time.Second, 10*time.Millisecond)
	// One goroutine more is the one that asks here.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 }, 10*time.Second, 10*time.Millisecond)
}
