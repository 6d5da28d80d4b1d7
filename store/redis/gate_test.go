package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

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
		require.Zero(t, s.gather.only.riders)
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
