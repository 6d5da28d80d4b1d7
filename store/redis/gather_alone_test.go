package redis

import (
	"context"
	"errors"
	"testing"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
)

// Whoever is done, or comes after Close, does not stand in line behind trips that are stuck.
func TestNobodyWaitsForNothing(t *testing.T) {
	s := openGathered(t, miniredis.RunT(t).Addr(), nil)
	r := s.prepare(quota["value"], "")
	s.stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Run(ctx, "k", quotaArgs(1))
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, s.queued(), "a context that is done does nothing")
	s.closed.Store(true) // as Close does first
	_, err = r.Run(t.Context(), "k", quotaArgs(1))
	require.ErrorIs(t, err, store.ErrClosed)
	s.closed.Store(false)
}

// A step whose own weight function panics stops nobody else.
func TestAWeightThatPanics(t *testing.T) {
	s := openGathered(t, miniredis.RunT(t).Addr(), nil)
	ill := s.prepare(&store.Step{Name: "ill", Lua: quota["value"].Lua, Weight: func(store.Args) int { panic("ill") }}, "ill/")
	s.stop()
	require.Panics(t, func() { _, _ = ill.Run(t.Context(), "k", quotaArgs(1)) })
	require.True(t, s.gather.mu.TryLock(), "the mutex is free")
	s.gather.mu.Unlock()
}

// Where a script has to be sent again, and that fails, those who have their answer keep it.
func TestOnlyWhatIsSentAgainIsLost(t *testing.T) {
	st, err := Open("redis://"+servertest.Redis(t).Addr, nil)
	require.NoError(t, err)
	defer st.Close()
	known, unknown := st.prepare(quota["value"], "a/"), st.prepare(quota["keyed"], "b/")
	_, err = known.Run(t.Context(), "k", quotaArgs(1))
	require.NoError(t, err)
	requests := append(known.requests([]asked{{"k", quotaArgs(1)}}), unknown.requests([]asked{{"k", quotaArgs(1)}})...)
	trips, gone := 0, errors.New("gone")
	st.decide(t.Context(), requests, func(ctx context.Context, cmds []goredis.Cmder) error {
		if trips++; trips == 2 {
			return gone
		}
		return st.exchange(ctx, cmds)
	})
	require.Equal(t, 2, trips)
	require.NoError(t, requests[0].err)
	require.EqualValues(t, 8, requests[0].reply.Remaining)
	require.ErrorIs(t, requests[1].err, gone)
}

// A step that answers nonsense for one key does not take the others' answers from them.
func TestNonsenseForOneKeyFailsAlone(t *testing.T) {
	for name, addr := range map[string]string{"miniredis": miniredis.RunT(t).Addr(), "redis": servertest.Redis(t).Addr} {
		t.Run(name, func(t *testing.T) {
			st, err := Open("redis://"+addr, nil)
			require.NoError(t, err)
			defer st.Close()
			for kind, step := range quota {
				r := st.prepare(step, kind+"/")
				_, err := r.Run(t.Context(), "b", quotaArgs(9))
				require.NoError(t, err)
				lower := quotaArgs(0)
				lower.Params = []int64{5} // of which less than nothing remains
				replies, errs := r.decide(t.Context(), []asked{{"a", quotaArgs(1)}, {"b", lower}, {"c", quotaArgs(1)}})
				require.ErrorIs(t, errs[1], store.ErrGarbled)
				for _, i := range []int{0, 2} {
					require.NoError(t, errs[i])
					require.EqualValues(t, 9, replies[i].Remaining)
				}
			}
		})
	}
}
