package backend

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/store"
)

func TestUsage(t *testing.T) {
	// One key, whose state does not change its length: each peek is the same on the wire.
	for _, c := range []struct {
		url      string
		start    func(context.Context) (*server.Server, error)
		commands int64 // of a peek: on Redis the script, TIME, and what reads the state
	}{
		{"redis:private", startRedis, 3},
		{"memcache:private", startMemcached, 1},
	} {
		t.Run(c.url, func(t *testing.T) {
			installed(t, c.start)
			b := open(t, c.url, nil)
			w := limiter(t, b, algorithms.FixedWindow(), b.NewPrefix())
			takeFive(t, w, "k")
			peek := func(n int) Usage {
				u, err := b.Usage(t.Context(), func() error {
					for range n {
						if _, err := w.Peek(t.Context(), "k"); err != nil {
							return err
						}
					}
					return nil
				})
				require.NoError(t, err)
				return u
			}
			none := peek(0)
			require.Zero(t, none.Trips)
			require.Zero(t, none.Commands)
			require.Zero(t, none.In)
			require.InDelta(t, 0, none.Out, 4, "digits of a length")
			u := peek(100)
			require.EqualValues(t, 100, u.Trips)
			require.EqualValues(t, 100*c.commands, u.Commands)
			require.Greater(t, u.In, int64(100*len(w.Keys("k")[0])), "each names the key")
			require.Zero(t, u.In%100)
			require.Greater(t, u.Out, int64(100))
			require.Equal(t, b.Kind == KindRedis, u.ServerUS > 0)
		})
	}
}

// On the wire of a counter a decision is one command, whether it reads one key or two.
func TestUsageCountsAGetOfTwoKeysOnce(t *testing.T) {
	installed(t, startMemcached)
	b := open(t, "memcache:private", nil)
	u, err := b.Usage(t.Context(), func() error {
		_, err := b.Store.(store.Counter).Read(t.Context(), "a", "b")
		return err
	})
	require.NoError(t, err)
	require.EqualValues(t, 1, u.Trips)
	require.EqualValues(t, 2, u.Commands)
	require.EqualValues(t, len("gets a b\r\n"), u.In)
	require.EqualValues(t, len("END\r\n"), u.Out)
}

func TestUsageIsWhatTheServerCounts(t *testing.T) {
	_, err := open(t, "memory:", nil).Usage(t.Context(), func() error { panic("not run") })
	require.ErrorIs(t, err, ErrNotCounted)

	installed(t, startRedis)
	b := open(t, "redis:private", nil)
	broken := fmt.Errorf("broken")
	_, err = b.Usage(t.Context(), func() error { return broken })
	require.ErrorIs(t, err, broken)
	// Plain commands, after scripts have run, have a time of their own.
	takeFive(t, limiter(t, b, algorithms.GCRA(nil), b.NewPrefix()), "k")
	u, err := b.Usage(t.Context(), func() error {
		for range 50 {
			if _, err := b.Store.(store.List).PushFront(t.Context(), "list", time.Hour, "x"); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, u.ServerUS)
}
