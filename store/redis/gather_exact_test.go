package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// Gathered or not, the same requests in the same order have the same answers: mixed limits
// and costs, shared keys, several algorithms.
func TestGatheredDecidesAsOneByOne(t *testing.T) {
	const seed = 11
	for _, a := range algorithms.All() {
		t.Run(a.Name(), func(t *testing.T) {
			addr := servertest.Redis(t).Addr
			s := openGathered(t, addr, &Options{Trips: 1})
			single, err := Open("redis://"+addr+"?batch=1", nil)
			require.NoError(t, err)
			defer single.Close()
			require.Nil(t, single.gather)
			random := rand.New(rand.NewPCG(seed, 0))
			now := time.Now().Truncate(time.Microsecond)
			clock := func() time.Time { return now }
			var pairs [][2]*weir.Weir
			for _, n := range []int64{3, 7, 100} {
				limit := weir.Limit{Count: n, Window: time.Second}
				in, err := weir.New(a, limit, s.Store, &weir.Options{Clock: clock, Prefix: "gathered"})
				require.NoError(t, err)
				out, err := weir.New(a, limit, single, &weir.Options{Clock: clock, Prefix: "single"})
				require.NoError(t, err)
				pairs = append(pairs, [2]*weir.Weir{in, out})
			}
			for round := range 12 {
				now = now.Add(time.Duration(random.Int64N(int64(400 * time.Millisecond)))).Truncate(time.Microsecond)
				s.stop()
				var want, got []weir.Decision
				results := make([]func() weir.Decision, 0, 20)
				for range 20 {
					pair, key, cost := pairs[random.IntN(len(pairs))], fmt.Sprint("k", random.IntN(4)), random.Int64N(3)
					d, err := pair[1].Take(t.Context(), key, cost)
					require.NoError(t, err)
					want = append(want, d)
					before, answer := s.queued(), make(chan weir.Decision, 1)
					go func() {
						d, err := pair[0].Take(context.Background(), key, cost)
						if err != nil {
							t.Error(err)
						}
						answer <- d
					}()
					require.Eventually(t, func() bool { return s.queued() > before }, 10*time.Second, 50*time.Microsecond)
					results = append(results, func() weir.Decision { return <-answer })
				}
				s.gate.set(false, 0)
				for _, result := range results {
					got = append(got, result())
				}
				require.Equal(t, want, got, "seed %d, round %d", seed, round)
				s.held.Wait()
			}
		})
	}
}

// 64 callers, a few hot keys, a server that forgets its scripts now and then: each key admits
// exactly its limit.
func TestManyCallersCountExactly(t *testing.T) {
	const callers, each, keys = 64, 30, 7
	for kind, step := range quota {
		t.Run(kind, func(t *testing.T) {
			s := openGathered(t, servertest.Redis(t).Addr, nil)
			r := s.prepare(step, "")
			var admitted [keys]atomic.Int64
			var group sync.WaitGroup
			for c := range callers {
				group.Go(func() {
					for i := range each {
						key := (c + i) % keys
						args := quotaArgs(1)
						args.Params = []int64{100}
						reply, err := r.Run(t.Context(), fmt.Sprint(key), args)
						if err != nil {
							t.Error(err)
						} else if reply.Allowed {
							admitted[key].Add(1)
						}
						if c == 0 && i%10 == 0 {
							if err := s.client.ScriptFlush(t.Context()).Err(); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			group.Wait()
			for key := range admitted {
				require.EqualValues(t, 100, admitted[key].Load())
			}
			require.Less(t, s.gate.trips.Load(), int64(callers*each), "some were gathered")
		})
	}
}
