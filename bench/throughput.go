package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

const (
	// slowest is the longest latency that the histograms tell apart, in nanoseconds.
	slowest = int64(time.Minute)
	digits  = 3
	warmers = 64
)

// loop is the closed loop of one pair: callers who each send the next request when the last one is
// answered, on the real clock.
type loop struct {
	limiter *weir.Weir
	keys    []string
	levels  map[int]*level // by number of callers

	gathered *loop // by a store that lets callers share round trips; may be nil
}

// loopCount is a limit so high that no request of the closed loop is denied, also without a burst: a caller
// takes at least ten microseconds for a round through its keys. That none was denied is proved.
func loopCount(l weir.Limit) int64 {
	return min(max(l.Count, 1_000_000, int64(l.Window/(10*time.Microsecond))), weir.MaxCount)
}

// newLoopLimiter lowers that limit where the store has no room for the state that it may need.
func newLoopLimiter(p pair, st store.Store, prefix string) (*weir.Weir, error) {
	least := p.limit.Count
	for count := loopCount(p.limit); ; count /= 10 {
		p.limit.Count = max(count, least)
		l, err := weir.New(p.algorithm, p.limit, st, &weir.Options{Prefix: prefix})
		var field *weir.FieldError
		if p.limit.Count == least || !errors.As(err, &field) {
			return l, err
		}
	}
}

// newLoop readies a pair and touches every key once, so that no repetition pays for first uses.
func newLoop(ctx context.Context, p pair, keys []string) (*loop, error) {
	prefix := p.backend.NewPrefix()
	single := p.single()
	limiter, err := newLoopLimiter(p, single, prefix)
	if err != nil {
		return nil, err
	}
	l := &loop{limiter: limiter, keys: keys, levels: map[int]*level{}}
	if p.backend.Store != single {
		gathered, err := newLoopLimiter(p, p.backend.Store, prefix)
		if err != nil {
			return nil, err
		}
		l.gathered = &loop{limiter: gathered, keys: keys, levels: map[int]*level{}}
	}
	if _, err := limiter.Peek(ctx, keys[0]); err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range warmers {
		group.Go(func() error {
			for k := i; k < len(keys); k += warmers {
				if _, err := limiter.Take(groupCtx, keys[k], 1); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return l, group.Wait()
}

// caller is one worker of the loop, with a histogram of its own. It is reused.
type caller struct {
	latency           *hdrhistogram.Histogram // nanoseconds
	touched           []bool                  // by key
	decisions, denied int64
}

func newCallers(n, keys int) []*caller {
	all := make([]*caller, n)
	for i := range all {
		all[i] = &caller{latency: hdrhistogram.New(1, slowest, digits), touched: make([]bool, keys)}
	}
	return all
}

// repeat lets the callers loop for so long. Each walks in turn through keys of its own, an equal share
// of all, from where the last repetition ended: so keys are touched uniformly, and none by two callers
// at once, of whom one could be denied where a burst is small.
func (l *loop) repeat(ctx context.Context, callers []*caller, interval time.Duration) error {
	level := l.levels[len(callers)]
	if level == nil {
		level = newLevel(len(callers), len(l.keys))
		l.levels[len(callers)] = level
	}
	group, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	for i, c := range callers {
		c.reset()
		first := i * len(l.keys) / len(callers)
		after := max(first+1, (i+1)*len(l.keys)/len(callers))
		at := min(first+level.next[i], after-1)
		group.Go(func() error {
			at, err := c.loop(ctx, l, at, first, after, start.Add(interval))
			level.next[i] = at - first
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	level.add(callers, time.Since(start))
	return nil
}

func (c *caller) reset() {
	c.latency.Reset()
	clear(c.touched)
	c.decisions, c.denied = 0, 0
}

// yieldEvery is after how many requests a caller lets others go first. In this process nothing else makes
// it wait, and the few that have a processor would be alone for the whole repetition.
const yieldEvery = 32

// loop sends requests until end, one at least, for the keys from first to the one before after, and returns
// where it goes on.
func (c *caller) loop(ctx context.Context, l *loop, at, first, after int, end time.Time) (int, error) {
	last := time.Now()
	for c.decisions == 0 || last.Before(end) {
		d, err := l.limiter.Take(ctx, l.keys[at], 1)
		if err != nil {
			return at, err
		}
		now := time.Now()
		if err := c.latency.RecordValue(max(1, min(int64(now.Sub(last)), slowest))); err != nil {
			return at, err
		}
		last = now
		c.touched[at] = true
		if at++; at == after {
			at = first
		}
		if !d.Allowed {
			c.denied++
		}
		if c.decisions++; c.decisions%yieldEvery == 0 {
			runtime.Gosched()
			last = time.Now()
		}
	}
	return at, ctx.Err()
}

// level collects the repetitions of one pair at one number of callers.
type level struct {
	rates             []float64 // per second, by repetition
	decisions, denied int64
	latency           *hdrhistogram.Histogram
	touched           []bool
	next              []int // by caller: where in its keys the next repetition goes on
}

func newLevel(callers, keys int) *level {
	return &level{next: make([]int, callers), latency: hdrhistogram.New(1, slowest, digits), touched: make([]bool, keys)}
}

func (l *level) add(callers []*caller, took time.Duration) {
	var decisions int64
	for _, c := range callers {
		decisions += c.decisions
		l.denied += c.denied
		l.latency.Merge(c.latency)
		for i, touched := range c.touched {
			l.touched[i] = l.touched[i] || touched
		}
	}
	l.decisions += decisions
	l.rates = append(l.rates, float64(decisions)/took.Seconds())
}

func (l *level) result(callers int) Throughput {
	t := Throughput{Callers: callers, Decisions: l.decisions}
	if l.denied > 0 {
		t.NA = fmt.Sprintf("%d of %d requests were denied", l.denied, l.decisions)
		return t
	}
	for _, touched := range l.touched {
		if touched {
			t.Keys++
		}
	}
	t.PerSecond = median(l.rates)
	if t.PerSecond > 0 {
		t.Spread = (slices.Max(l.rates) - slices.Min(l.rates)) / t.PerSecond
	}
	us := func(quantile float64) float64 { return float64(l.latency.ValueAtQuantile(quantile)) / 1000 }
	t.P50US, t.P99US, t.P999US = us(50), us(99), us(99.9)
	return t
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
