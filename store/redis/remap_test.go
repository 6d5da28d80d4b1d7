package redis

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A cluster whose first node does not answer, or refuses to serve, is found at its second one without a wait for
// the map to age, whichever way the decision goes. What failed is not sent again.
func TestTheMapIsReadAgain(t *testing.T) {
	mini := miniredis.RunT(t)
	second := mini.Addr()
	refusing := miniredis.RunT(t)
	refusing.SetError("CLUSTERDOWN Hash slot not served")
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	for name, first := range map[string]string{
		"refused": nobody.Addr().String(), "silent": silent(t), "down": refusing.Addr(),
	} {
		for way, requests := range map[string][]asked{
			"one": {{name, quotaArgs(1)}}, "pipeline": {{name + "1", quotaArgs(1)}, {name + "2", quotaArgs(1)}},
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				var moved atomic.Bool
				client := goredis.NewClusterClient(&goredis.ClusterOptions{
					MaxRedirects: 1, ContextTimeoutEnabled: true, DialerRetries: 1,
					ClusterSlots: func(context.Context) ([]goredis.ClusterSlot, error) {
						addr := first
						if moved.Load() {
							addr = second
						}
						return []goredis.ClusterSlot{{Start: 0, End: slots - 1, Nodes: []goredis.ClusterNode{{Addr: addr}}}}, nil
					},
				})
				t.Cleanup(func() { require.NoError(t, client.Close()) })
				r := New(client, nil).prepare(quota["value"], way)
				decide := func() error {
					ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
					defer cancel()
					began := time.Now()
					_, errs := r.decide(ctx, requests)
					if took := time.Since(began); took > 4*time.Second {
						t.Errorf("%v: the deadline is the caller's", took)
					}
					return errors.Join(errs...)
				}
				require.Error(t, decide())
				moved.Store(true)
				require.Eventually(t, func() bool { return decide() == nil }, 20*time.Second, 10*time.Millisecond)
				for _, q := range requests {
					used, err := mini.Get(way + q.key)
					require.NoError(t, err)
					require.Equal(t, "1", used)
				}
			})
		}
	}
}

// What the right node answers says nothing of the map.
func TestAnswersDoNotMove(t *testing.T) {
	mini := miniredis.RunT(t)
	addr := mini.Addr()
	var asked atomic.Int64
	client := goredis.NewClusterClient(&goredis.ClusterOptions{
		ClusterSlots: func(context.Context) ([]goredis.ClusterSlot, error) {
			asked.Add(1)
			return []goredis.ClusterSlot{{Start: 0, End: slots - 1, Nodes: []goredis.ClusterNode{{Addr: addr}}}}, nil
		},
	})
	defer client.Close()
	s := New(client, nil)
	require.NoError(t, mini.Set("k", "no number"))
	for range 3 {
		_, err := s.Add(t.Context(), "k", 1, time.Minute)
		require.Error(t, err)
		_, err = s.prepare(quota["value"], "").Run(t.Context(), "fresh", quotaArgs(1)) // NOSCRIPT at first
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, asked.Load())
}
