package versus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/peers"
)

// loop is a contender at work: callers that ask again and again for keys of a list.
type loop struct {
	contender *contender
	limiter   peers.Peer
	keys      []string
	speeds    map[int]*Speed // by number of callers
	next      map[int][]int  // where each caller goes on
}

// shuffled are the keys, in an order that no table has them in.
func shuffled(n int, seed uint64) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = clientKey(i)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// newLoop opens the limiter and asks once for each key: then all are there.
func newLoop(ctx context.Context, c *contender, keys []string, levels []int) (*loop, error) {
	limit := c.loopLimit(len(keys))
	limiter, err := c.open(limit, nil)
	if err != nil {
		return nil, err
	}
	l := &loop{contender: c, limiter: limiter, keys: keys, speeds: map[int]*Speed{}, next: map[int][]int{}}
	for _, n := range levels {
		s := &Speed{Limit: bench.NewLimitInfo(limit), Keys: len(keys), Callers: n, counted: map[string]int64{}}
		l.speeds[n], l.next[n] = s, make([]int, n)
		c.Speed = append(c.Speed, s)
	}
	group, ctx := errgroup.WithContext(ctx)
	for w := range fillers {
		group.Go(func() error {
			for i := w; i < len(keys); i += fillers {
				if _, err := limiter.Take(ctx, keys[i], 1); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return l, group.Wait()
}

// repeat makes one repetition. A limiter that fails under this load has no figure for it, and goes on
// under others.
func (l *loop) repeat(ctx context.Context, s *servers, callers int, interval time.Duration) error {
	speed := l.speeds[callers]
	if speed.failed != "" {
		return nil
	}
	counts, err := s.commands(ctx, l.contender.Store)
	if err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	group, groupCtx := errgroup.WithContext(ctx)
	decisions, denied := make([]int64, callers), make([]int64, callers)
	start := time.Now()
	for i := range callers {
		group.Go(func() (err error) {
			ctx, cancel := context.WithCancel(groupCtx) // of its own, as requests to a service have
			defer cancel()
			decisions[i], denied[i], err = l.ask(ctx, i, callers, start.Add(interval))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		speed.failed = err.Error()
		return ctx.Err()
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if speed.counted, err = grown(ctx, s, l.contender.Store, counts, speed.counted); err != nil {
		return err
	}
	var sum int64
	for i := range callers {
		sum += decisions[i]
		speed.denied += denied[i]
	}
	speed.Decisions += sum
	speed.mallocs += after.Mallocs - before.Mallocs
	speed.rates = append(speed.rates, float64(sum)/took.Seconds())
	return nil
}

// grown adds to counted by how much the server's counts grew.
func grown(ctx context.Context, s *servers, store string, before, counted map[string]int64) (map[string]int64, error) {
	after, err := s.commands(ctx, store)
	for name, n := range after {
		counted[name] += n - before[name]
	}
	return counted, err
}

// glances is after how many requests a caller looks at its watch in this process.
const glances = 64

// ask sends requests until end. Each caller walks through keys of its own, in turns; one hot key is
// everybody's.
func (l *loop) ask(ctx context.Context, i, callers int, end time.Time) (decisions, denied int64, err error) {
	first := min(i*len(l.keys)/callers, len(l.keys)-1)
	after := max(first+1, (i+1)*len(l.keys)/callers)
	at := first + l.next[callers][i]%(after-first)
	glance := int64(1)
	if l.contender.Store == peers.Memory {
		glance = glances
	}
	for more := true; more; more = time.Now().Before(end) {
		for range glance {
			a, err := l.limiter.Take(ctx, l.keys[at], 1)
			if err != nil {
				return decisions, denied, err
			}
			decisions++
			if !a.Allowed {
				denied++
			}
			if at++; at == after {
				at = first
			}
		}
	}
	l.next[callers][i] = at - first
	return decisions, denied, ctx.Err()
}

// finish works out the figures.
func (s *Speed) finish(store string) {
	s.Repetitions = len(s.rates)
	switch {
	case s.failed != "":
		s.NA = s.failed
		return
	case s.Repetitions == 0:
		s.NA = "not measured"
		return
	case s.denied > 0:
		s.NA = fmt.Sprintf("%d of %d requests were denied", s.denied, s.Decisions)
		return
	}
	s.PerSecond = median(s.rates)
	s.Spread = (slices.Max(s.rates) - slices.Min(s.rates)) / s.PerSecond
	s.NSPerOp = 1e9 / s.PerSecond
	if store == peers.Memory {
		s.AllocsPerOp = float64(s.mallocs) / float64(s.Decisions)
		return
	}
	s.Commands = map[string]float64{}
	most := 0.0
	for name, n := range s.counted {
		if n > 0 {
			s.Commands[name] = float64(n) / float64(s.Decisions)
			most = max(most, s.Commands[name])
		}
	}
	if most < 0.99 {
		s.NA = fmt.Sprintf("the server counted %.2f commands of a kind for each decision: want 1", most)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// mostGarbage is how much may lie about until it is collected between two rounds.
const mostGarbage = 2 << 30

// restGC collects now and then lets the collector rest, so that what one row left behind is not collected at
// another's cost. sweep collects where there is too much; resume ends the rest.
func restGC() (sweep, resume func()) {
	runtime.GC()
	percent := debug.SetGCPercent(-1)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	clean := m.HeapAlloc
	sweep = func() {
		if runtime.ReadMemStats(&m); m.HeapAlloc > clean+mostGarbage {
			runtime.GC()
		}
	}
	return sweep, func() { debug.SetGCPercent(percent) }
}
