package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
)

func TestALoneCallerGoesStraight(t *testing.T) {
	s := openGathered(t, miniredis.RunT(t).Addr(), nil)
	r := s.prepare(quota["value"], "")
	type mark struct{}
	ctx := context.WithValue(t.Context(), mark{}, "own")
	_, err := r.Run(ctx, "k", quotaArgs(1))
	require.NoError(t, err)
	before := runtime.NumGoroutine()
	for range 5 {
		_, err := r.Run(ctx, "k", quotaArgs(1))
		require.NoError(t, err)
	}
	require.EqualValues(t, 7, s.gate.trips.Load(), "one each, and one more for the source")
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
	require.Equal(t, "own", s.gate.contexts[6].Value(mark{}))
}

func TestWhoWaitsSharesATrip(t *testing.T) {
	for kind, step := range quota {
		t.Run(kind, func(t *testing.T) {
			s := openGathered(t, servertest.Redis(t).Addr, &Options{Trips: 1})
			s.stop()
			one, two := s.prepare(step, "one/"), s.prepare(step, "two/")
			require.Same(t, one.script, two.script)
			var all []*outcome
			for i := range 30 {
				all = append(all, s.queue(t.Context(), []*runner{one, two}[i%2], fmt.Sprint(i%3), quotaArgs(2)))
			}
			require.NoError(t, s.client.LPush(t.Context(), "one/list", "x").Err())
			require.NoError(t, s.client.Set(t.Context(), "two/bad", "x", 0).Err())
			list := s.queue(t.Context(), one, "list", quotaArgs(1))
			bad := s.queue(t.Context(), two, "bad", quotaArgs(1))
			own := s.queue(t.Context(), two, "other", store.Args{Now: 5, Cost: 1, Params: []int64{3}})
			s.gate.trips.Store(0)
			s.gate.set(false, 0)
			used := map[string]int64{}
			for i, o := range all { // in the order in which they came
				reply, err := o.wait()
				require.NoError(t, err)
				key := fmt.Sprint(i%2, "/", i%3)
				require.Equal(t, used[key] < 10, reply.Allowed, "request %d", i)
				used[key] = min(used[key]+2, 10)
				require.Equal(t, 10-used[key], reply.Remaining)
			}
			_, err := list.wait()
			require.ErrorContains(t, err, "WRONGTYPE")
			_, err = bad.wait()
			require.ErrorIs(t, err, store.ErrCorrupt)
			reply, err := own.wait()
			require.NoError(t, err)
			require.EqualValues(t, 2, reply.Remaining)
			s.held.Wait()
			// The one that held the trip, then the batch; each at most once more with the source.
			require.LessOrEqual(t, s.gate.trips.Load(), int64(4))
		})
	}
}

// Of a large trip and a small one, the server would soon have the small one behind it, and wait.
func TestTripsTakeEqualShares(t *testing.T) {
	s := openGathered(t, miniredis.RunT(t).Addr(), &Options{Trips: 2})
	r := s.prepare(quota["value"], "")
	_, err := r.Run(t.Context(), "known", quotaArgs(1))
	require.NoError(t, err)
	s.stop()
	var all []*outcome
	for i := range 20 {
		all = append(all, s.queue(t.Context(), r, fmt.Sprint(i), quotaArgs(1)))
	}
	s.gate.set(true, 1) // one goes, and those who wait share what is left with the other
	require.Eventually(t, func() bool { return s.gate.held() == 2 && s.queued() < 20 }, 10*time.Second, time.Millisecond)
	require.Equal(t, 20-(20+1+1)/2, s.queued())
	s.gate.set(false, 0)
	for _, o := range all {
		_, err := o.wait()
		require.NoError(t, err)
	}
}

func TestABatchIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		opts  Options
		step  store.Step
		trips int64
	}{
		"by count":  {Options{MaxBatch: 4, Trips: 1}, store.Step{}, 1 + 5},
		"by weight": {Options{Trips: 1}, store.Step{Weight: func(store.Args) int { return 300 }}, 1 + 7},
		"by none":   {Options{Trips: 1}, store.Step{Weight: func(store.Args) int { return 1 }}, 1 + 1},
		"too heavy": {Options{Trips: 1}, store.Step{Weight: func(store.Args) int { return 3000 }}, 1 + 20},
	} {
		t.Run(name, func(t *testing.T) {
			s := openGathered(t, miniredis.RunT(t).Addr(), &c.opts)
			c.step.Name, c.step.Lua = quota["value"].Name, quota["value"].Lua
			r := s.prepare(&c.step, "")
			_, err := r.Run(t.Context(), "known", quotaArgs(1))
			require.NoError(t, err)
			s.stop()
			var all []*outcome
			for i := range 20 {
				all = append(all, s.queue(t.Context(), r, fmt.Sprint(i), quotaArgs(1)))
			}
			s.gate.trips.Store(0)
			s.gate.set(false, 0)
			for _, o := range all {
				_, err := o.wait()
				require.NoError(t, err)
			}
			require.Equal(t, c.trips, s.gate.trips.Load())
		})
	}
}

func TestACallerThatGoesLeavesOthersAlone(t *testing.T) {
	s := openGathered(t, servertest.Redis(t).Addr, &Options{Trips: 1})
	r := s.prepare(quota["value"], "")
	_, err := r.Run(t.Context(), "known", quotaArgs(1))
	require.NoError(t, err)
	s.stop()

	type mark struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), mark{}, "own"))
	soon, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	gone := s.queue(ctx, r, "gone", quotaArgs(1))
	late := s.queue(soon, r, "gone", quotaArgs(1))
	stay := s.queue(t.Context(), r, "stay", quotaArgs(1))
	cancel()
	_, err = gone.wait()
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "redis: quota: ")
	_, err = late.wait()
	require.ErrorIs(t, err, context.DeadlineExceeded)

	// Let the first trip arrive, and hold up the batch.
	ctx, cancel = context.WithCancel(t.Context())
	inFlight := s.queue(ctx, r, "sent", quotaArgs(1))
	s.gate.set(true, 1)
	s.held.Wait()
	require.Eventually(t, func() bool { return s.gate.held() == 1 }, 10*time.Second, time.Millisecond)
	cancel()
	_, err = inFlight.wait()
	require.ErrorIs(t, err, context.Canceled, "at once")
	s.gate.set(false, 0)
	reply, err := stay.wait()
	require.NoError(t, err)
	require.EqualValues(t, 9, reply.Remaining)
	require.Zero(t, s.client.Exists(t.Context(), "gone").Val(), "never sent")
	for _, sent := range s.gate.contexts[len(s.gate.contexts)-1:] {
		require.Nil(t, sent.Value(mark{}), "a batch has nobody's values")
	}
}

func TestABatchThatAllHaveLeftIsNotWaitedFor(t *testing.T) {
	s := openGathered(t, servertest.Redis(t).Addr, &Options{Trips: 1})
	r := s.prepare(quota["value"], "")
	_, err := r.Run(t.Context(), "known", quotaArgs(1))
	require.NoError(t, err)
	s.stop()
	ctx, cancel := context.WithCancel(t.Context())
	a, b := s.queue(ctx, r, "a", quotaArgs(1)), s.queue(ctx, r, "b", quotaArgs(1))
	s.gate.set(true, 1)
	s.held.Wait()
	require.Eventually(t, func() bool { return s.gate.held() == 1 }, 10*time.Second, time.Millisecond)
	batch := s.gate.contexts[len(s.gate.contexts)-1]
	require.NoError(t, batch.Err())
	cancel()
	for _, o := range []*outcome{a, b} {
		_, err := o.wait()
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Zero(t, s.moving())
	require.Error(t, batch.Err())
}

func TestABatchEndsWithTheLastDeadline(t *testing.T) {
	s := openGathered(t, silent(t), &Options{Trips: 1})
	r := s.prepare(quota["value"], "")
	var all []*outcome
	s.gather.only.trips, s.gather.only.riders = 1, 1 // as if one were under way
	s.gather.only.departed = time.Now().Add(time.Hour)
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+10*i)*time.Millisecond)
		defer cancel()
		all = append(all, s.queue(ctx, r, "k", quotaArgs(1)))
	}
	s.gather.arrived(&s.gather.only)
	for _, o := range all {
		_, err := o.wait()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

// A trip that is stuck holds nobody up for long.
func TestPatience(t *testing.T) {
	s := openGathered(t, servertest.Redis(t).Addr, nil)
	r := s.prepare(quota["value"], "")
	s.stop()
	o := s.queue(t.Context(), r, "k", quotaArgs(1))
	s.gather.mu.Lock()
	s.gather.only.departed = time.Now().Add(-time.Second)
	s.gather.mu.Unlock()
	s.gate.letNew()
	another, err := r.Run(t.Context(), "k", quotaArgs(1))
	require.NoError(t, err)
	require.EqualValues(t, 8, another.Remaining)
	first, err := o.wait()
	require.NoError(t, err)
	require.EqualValues(t, 9, first.Remaining)
}

func TestClosedWhileWaiting(t *testing.T) {
	s := openGathered(t, servertest.Redis(t).Addr, nil)
	r := s.prepare(quota["value"], "")
	_, err := r.Run(t.Context(), "known", quotaArgs(1))
	require.NoError(t, err)
	s.stop()
	o := s.queue(t.Context(), r, "k", quotaArgs(1))
	s.closed.Store(true) // as Close does first
	s.gate.set(false, 0)
	_, err = o.wait()
	require.ErrorIs(t, err, store.ErrClosed)
	s.closed.Store(false)
}

// A connection that breaks under a batch is an error for all of it, once, and of no one else.
func TestABrokenConnectionFailsItsBatch(t *testing.T) {
	mini := miniredis.RunT(t)
	way := newLossy(t, mini.Addr())
	s := openGathered(t, way.addr, &Options{Trips: 1})
	r := s.prepare(quota["value"], "")
	_, err := r.Run(t.Context(), "known", quotaArgs(1))
	require.NoError(t, err)
	s.stop()
	a, b := s.queue(t.Context(), r, "a", quotaArgs(1)), s.queue(t.Context(), r, "b", quotaArgs(1))
	s.gate.set(true, 1)
	s.held.Wait()
	require.Eventually(t, func() bool { return s.gate.held() == 1 }, 10*time.Second, time.Millisecond)
	way.armed.Store(true)
	s.gate.set(false, 0)
	for _, o := range []*outcome{a, b} {
		_, err := o.wait()
		require.Error(t, err)
		require.NotErrorIs(t, err, context.Canceled)
	}
	for _, key := range []string{"a", "b"} {
		got, err := mini.Get(key)
		require.NoError(t, err)
		require.Equal(t, "1", got, "sent once")
	}
	_, err = r.Run(t.Context(), "a", quotaArgs(1))
	require.NoError(t, err)
}

// A server that dies under many callers is an error for each, and none waits for ever.
func TestAServerThatDies(t *testing.T) {
	mini := miniredis.RunT(t)
	s := openGathered(t, mini.Addr(), nil)
	r := s.prepare(quota["value"], "")
	var failed, group sync.WaitGroup
	failed.Add(32)
	for range 32 {
		group.Go(func() {
			for {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				_, err := r.Run(ctx, "k", quotaArgs(0))
				cancel()
				if err != nil {
					if errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					failed.Done()
					return
				}
			}
		})
	}
	mini.Close()
	failed.Wait()
	group.Wait()
}

func TestClusterGathers(t *testing.T) {
	s, err := Open(servertest.Cluster(t, 3, 0).URL(), nil)
	require.NoError(t, err)
	defer s.Close()
	trips := newGate()
	s.client.AddHook(trips)
	r := s.prepare(quota["value"], "")
	var admitted [20]atomic.Int64
	var group sync.WaitGroup
	for c := range 64 {
		group.Go(func() {
			for i := range 20 {
				key := (c + i) % len(admitted)
				reply, err := r.Run(t.Context(), fmt.Sprint(key), quotaArgs(1))
				if err != nil {
					t.Error(err)
				} else if reply.Allowed {
					admitted[key].Add(1)
				}
			}
		})
	}
	group.Wait()
	for key := range admitted {
		require.EqualValues(t, 10, admitted[key].Load())
	}
	require.Less(t, trips.trips.Load(), int64(64*20))
	require.Eventually(t, func() bool {
		s.gather.mu.Lock()
		defer s.gather.mu.Unlock()
		return len(s.gather.lanes) == 0
	}, 10*time.Second, time.Millisecond, "kept only while something moves")
}

func TestWrongOptions(t *testing.T) {
	for want, opts := range map[string]*Options{
		"redis: Options.MaxBatch: -1: want 1 to 512":  {MaxBatch: -1},
		"redis: Options.MaxBatch: 513: want 1 to 512": {MaxBatch: 513},
		"redis: Options.Trips: -1: want 1 to 1000":    {Trips: -1},
		"redis: Options.Trips: 1001: want 1 to 1000":  {Trips: 1001},
	} {
		_, err := Open("redis://localhost", opts)
		require.ErrorContains(t, err, want)
		client := goredis.NewClient(&goredis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("none") }})
		_, err = New(client, opts).Prepare(quota["value"], "")
		require.ErrorContains(t, err, want)
		require.NoError(t, client.Close())
	}
	for url, want := range map[string]string{
		"redis://h?batch=0": `URL parameter batch="0": want 1 to 512`,
		"redis://h?trips=x": `URL parameter trips="x": want 1 to 1000`,
	} {
		_, err := Open(url, nil)
		require.ErrorContains(t, err, want)
	}
	s, err := Open("redis://h?batch=7&trips=3", &Options{MaxBatch: 9})
	require.NoError(t, err)
	require.Equal(t, 7, s.gather.batch)
	require.Equal(t, 3, s.gather.trips)
	require.NoError(t, s.Close())
}
