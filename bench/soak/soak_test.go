// Package soak_test takes adversarial traffic through every algorithm on real stores and holds every
// window against the declared bound.
//
// A plain go test makes a short run of it. WEIR_SOAK=1 makes the long one, a hundred million
// decisions in this process and one million on each server; WEIR_SOAK_DECISIONS says how many in this
// process instead, and each server then gets a hundredth of that. WEIR_SOAK_SEED repeats a run. A flood of
// ten million keys that are used once goes with it.
package soak_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
)

type settings struct {
	long             bool
	memory, onServer int64 // decisions
	seed             uint64
}

func readSettings(t *testing.T) settings {
	number := func(name string, otherwise int64) int64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err, "%s: want a whole number", name)
		require.Positive(t, n, name)
		return n
	}
	s := settings{long: os.Getenv("WEIR_SOAK") == "1", memory: 200_000, onServer: 10_000}
	seed := int64(1)
	if s.long {
		s.memory = number("WEIR_SOAK_DECISIONS", 100_000_000)
		s.onServer = max(1, s.memory/100)
		seed = time.Now().UnixNano()
	}
	s.seed = uint64(number("WEIR_SOAK_SEED", seed))
	return s
}

func TestSoak(t *testing.T) {
	s := readSettings(t)
	for _, on := range []struct {
		name      string
		open      func(testing.TB) store.Store
		decisions int64
		workers   int
	}{
		{"memory", storetest.Memory, s.memory, runtime.GOMAXPROCS(0)},
		{"redis", storetest.Redis, s.onServer, 16},
		{"memcached", storetest.Memcached, s.onServer, 16},
	} {
		t.Run(on.name, func(t *testing.T) {
			soak(t, on.open(t), on.decisions, on.workers, s)
		})
	}
}

// soak shares the decisions out among the subjects that the store can run.
func soak(t *testing.T, st store.Store, decisions int64, workers int, s settings) {
	started := time.Now()
	var all []*soaker
	for i, sub := range subjects(t) {
		k, err := newSoaker(sub, st, fmt.Sprintf("soak%d", i), s.seed+uint64(i))
		var unsupported *weir.UnsupportedError
		if errors.As(err, &unsupported) {
			continue
		}
		require.NoError(t, err, sub.algorithm)
		all = append(all, k)
	}
	share := (decisions + int64(len(all)) - 1) / int64(len(all))
	work := make(chan *soaker)
	var done, over atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for k := range work {
				if err := k.run(share, &done); err != nil {
					over.Add(1)
					t.Errorf("%s at %s, seed %d: %v", k.algorithm, k.limit, s.seed, err)
				}
			}
		})
	}
	stop := make(chan struct{})
	if s.long {
		go report(t.Name(), &done, decisions, stop)
	}
	for _, k := range all {
		work <- k
	}
	close(work)
	group.Wait()
	close(stop)
	verdict := "no window over the declared bound"
	if n := over.Load(); n > 0 {
		verdict = fmt.Sprintf("FAILED for %d", n)
	}
	fmt.Fprintf(os.Stderr, "soak: %s: %d decisions, %d algorithms under their limits, seed %d, %v: %s\n",
		t.Name(), done.Load(), len(all), s.seed, time.Since(started).Round(time.Millisecond), verdict)
	require.GreaterOrEqual(t, done.Load(), decisions)
}

// report prints now and then how far a long run is.
func report(name string, done *atomic.Int64, of int64, stop chan struct{}) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n := done.Load()
			fmt.Fprintf(os.Stderr, "soak: %s: %d of %d, %d %%\n", name, n, of, 100*n/max(of, 1))
		case <-stop:
			return
		}
	}
}

// soaker takes traffic through one subject.
type soaker struct {
	subject
	limiter *weir.Weir
	now     int64
	random  *rand.Rand
}

func newSoaker(sub subject, st store.Store, prefix string, seed uint64) (*soaker, error) {
	k := &soaker{subject: sub, random: rand.New(rand.NewPCG(seed, 0))}
	var err error
	k.limiter, err = weir.New(sub.algorithm, sub.limit, st, &weir.Options{
		Prefix: prefix, Clock: func() time.Time { return time.UnixMicro(k.now) },
	})
	return k, err
}

// episode is about how many decisions a key lives, so that what the judges keep stays small.
const episode = 10_000

// run makes so many decisions, episode by episode, each on a key that was never used.
func (k *soaker) run(decisions int64, done *atomic.Int64) error {
	for n := 0; decisions > 0; n++ {
		length := min(decisions, episode)
		if err := k.episode(length, n%2 == 1); err != nil {
			return fmt.Errorf("episode %d: %w", n, err)
		}
		decisions -= length
		done.Add(length)
	}
	return nil
}

func (k *soaker) episode(length int64, late bool) error {
	ctx := context.Background()
	if err := k.limiter.Reset(ctx, "key"); err != nil {
		return err
	}
	judges := make([]*oracle.Judge, len(k.promises))
	for i, p := range k.promises {
		judges[i] = oracle.NewJudge(p.limit, p.window)
	}
	t := k.traffic()
	written := false // the state holds the latest time
	for range length {
		before := t.now
		cost := t.next()
		written = written && t.now == before
		k.now = t.now
		if late && written && k.random.IntN(20) == 0 {
			// A clock that is late by up to two windows, after one that was not: the later counts.
			k.now = max(0, t.now-k.random.Int64N(2*t.window))
		}
		d, err := k.limiter.Take(ctx, "key", cost)
		if err != nil {
			return err
		}
		// A counter of its own for each window keeps no time, so that a late request meets another.
		written = written || d.Allowed && cost > 0 && k.limiter.Plan().Step != nil
		o := oracle.Observation{Time: t.now, Cost: cost, Allowed: d.Allowed, RetryAfter: oracle.Never, Remaining: -1}
		if d.RetryAfter != weir.Never {
			o.RetryAfter = d.RetryAfter.Microseconds()
		}
		for _, j := range judges {
			j.Observe("key", o)
		}
	}
	return k.judge(judges, late)
}

// traffic starts at a random time, where the window's edge is as likely near as far.
func (k *soaker) traffic() *traffic {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	t := &traffic{
		random: k.random, limit: k.limit.Count, window: k.limit.Window.Microseconds(),
		most: k.limiter.Capacity(), above: k.limiter.Capacity() + 1,
		now: start + k.random.Int64N(10*k.limit.Window.Microseconds()),
	}
	if n := k.limiter.Plan().MaxCost; n > 0 {
		t.most = min(t.most, n)
	}
	return t
}

func (k *soaker) judge(judges []*oracle.Judge, late bool) error {
	for i, p := range k.promises {
		r := judges[i].Report()
		if r.MaxInWindow > p.most {
			return fmt.Errorf("%d in a window of %d us that ends at %d: want at most %d", r.MaxInWindow, p.window, r.MaxAt, p.most)
		}
		if k.deficit >= 0 && !late && r.MaxDeficit > k.deficit {
			return fmt.Errorf("denied with %d places free: want at most %d", r.MaxDeficit, k.deficit)
		}
		if r.Allowed == 0 {
			return errors.New("nothing was admitted: want traffic that proves something")
		}
	}
	return nil
}

// A bound that is one too low is found, of every algorithm: the traffic is hard enough.
func TestSoakFindsABoundThatIsTooLow(t *testing.T) {
	st := storetest.Memory(t)
	found := map[string]bool{}
	for i, sub := range subjects(t) {
		if sub.limit.Count > 100 || found[sub.algorithm.Name()] {
			continue // one of each is proof
		}
		sub.promises[0].most--
		k, err := newSoaker(sub, st, fmt.Sprintf("low%d", i), 1)
		require.NoError(t, err)
		var done atomic.Int64
		if err := k.run(20_000, &done); err != nil {
			found[sub.algorithm.Name()] = true
		}
	}
	for _, sub := range subjects(t) {
		require.True(t, found[sub.algorithm.Name()], sub.algorithm.Name())
	}
}
