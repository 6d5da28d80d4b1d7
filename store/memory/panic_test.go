package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// A step that panics, as a server may recover it, keeps no shard locked: neither when it
// decides nor when a full store asks it who is blocked.
func TestAStepThatPanicsLocksNothing(t *testing.T) {
	var ill bool
	step := &store.Step{Name: "ill", Func: func(state []byte, a store.Args) store.Result {
		if ill {
			panic("ill")
		}
		return store.Result{State: append(state[:0], 1), TTL: 1e9, Reply: store.Reply{Allowed: true, Remaining: 1}}
	}}
	s := open(t, &memory.Options{MaxKeys: 1})
	r, err := s.Prepare(step, "ill/")
	require.NoError(t, err)
	run := func(key string, cost int64) <-chan any {
		done := make(chan any, 1)
		go func() {
			defer func() { done <- recover() }()
			_, err := r.Run(ctx, key, store.Args{OwnTime: true, Cost: cost})
			if err != nil {
				t.Error(err)
			}
		}()
		return done
	}
	require.Nil(t, <-run("first", 1))
	for _, key := range []string{"first", "second"} {
		ill = true
		require.Equal(t, "ill", <-run(key, 1))
		ill = false
		select {
		case failed := <-run(key, 1):
			require.Nil(t, failed)
		case <-time.After(10 * time.Second):
			t.Fatal("locked")
		}
	}
}
