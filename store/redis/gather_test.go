package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store"
)

// gate holds up what a client sends, and counts it.
type gate struct {
	mu       sync.Mutex
	cond     *sync.Cond
	passes   int // how many may go through while it is shut
	shut     bool
	waiting  int
	trips    atomic.Int64
	contexts []context.Context
}

func newGate() *gate {
	g := &gate{}
	g.cond = sync.NewCond(&g.mu)
	return g
}

func (g *gate) pass(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.contexts = append(g.contexts, ctx)
	g.waiting++
	for g.shut && g.passes == 0 {
		g.cond.Wait()
	}
	if g.shut {
		g.passes--
	}
	g.waiting--
	g.trips.Add(1)
}

func (g *gate) set(shut bool, passes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.passes = shut, passes
	g.cond.Broadcast()
}

// letNew opens the gate without waking those that it holds.
func (g *gate) letNew() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
}

func (g *gate) held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

func (g *gate) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (g *gate) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			g.pass(ctx)
		}
		return next(ctx, cmd)
	}
}

func (g *gate) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		if strings.HasPrefix(cmds[0].Name(), "eval") { // and not a connection's greeting
			g.pass(ctx)
		}
		return next(ctx, cmds)
	}
}

// gathered is a store whose trips can be held up.
type gathered struct {
	*Store
	t    *testing.T
	gate *gate
	held sync.WaitGroup // callers that hold the trips
}

func openGathered(t *testing.T, addr string, opts *Options) *gathered {
	st, err := Open("redis://"+addr, opts)
	require.NoError(t, err)
	s := &gathered{Store: st, t: t, gate: newGate()}
	st.client.AddHook(s.gate)
	t.Cleanup(func() {
		s.gate.set(false, 0)
		s.held.Wait()
		require.NoError(t, st.Close())
		require.Eventually(t, func() bool { return s.moving() == 0 }, 10*time.Second, time.Millisecond, "workers end")
	})
	return s
}

// moving is how many trips are under way.
func (s *gathered) moving() int {
	s.gather.mu.Lock()
	defer s.gather.mu.Unlock()
	return s.gather.only.trips
}

func (s *gathered) queued() int {
	s.gather.mu.Lock()
	defer s.gather.mu.Unlock()
	return len(s.gather.only.queue)
}

// stop lets lone callers take all trips and not arrive. Nobody loses patience.
func (s *gathered) stop() {
	s.gate.set(true, 0)
	r := s.prepare(quota["value"], "hold/")
	for i := range s.gather.trips {
		s.held.Go(func() {
			_, err := r.Run(context.Background(), fmt.Sprint(i), quotaArgs(0))
			require.NoError(s.t, err)
		})
	}
	require.Eventually(s.t, func() bool { return s.gate.held() == s.gather.trips }, 10*time.Second, time.Millisecond)
	s.gather.mu.Lock()
	s.gather.only.departed = time.Now().Add(time.Hour)
	s.gather.mu.Unlock()
}

// outcome is what a caller gets in the end.
type outcome struct {
	reply store.Reply
	err   error
	done  chan struct{}
}

// queue lets a caller wait behind those that hold the trips.
func (s *gathered) queue(ctx context.Context, r store.Runner, key string, args store.Args) *outcome {
	before := s.queued()
	o := &outcome{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.reply, o.err = r.Run(ctx, key, args)
	}()
	require.Eventually(s.t, func() bool { return s.queued() > before }, 10*time.Second, 50*time.Microsecond)
	return o
}

func (o *outcome) wait() (store.Reply, error) {
	<-o.done
	return o.reply, o.err
}

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
			s := openGathered(t, servertest.Redis(t).Addr, nil)
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
			// The two that held the trips, then the batch; each at most once more with the source.
			require.LessOrEqual(t, s.gate.trips.Load(), int64(6))
		})
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
	s.gather.only.trips = 1 // as if one were under way
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
	s, err := Open("redis+cluster://"+strings.Join(startCluster(t), ","), nil)
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
