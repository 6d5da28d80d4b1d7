package bench

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// crewSize is how many workers decide in simulated time, each one request after the other.
const crewSize = 32

// crew decides for many keys at once. A worker has a clock and a limiter of its own, over the same
// store and the same keys, so that time belongs to each request; a key is always the same worker's.
type crew []*worker

type worker struct {
	limiter *weir.Weir
	now     int64 // microseconds
}

// newCrew returns workers whose keys nobody else has. The store has been asked once, so that what
// it does only once, such as learning a script, is done.
func newCrew(ctx context.Context, p pair, size int) (crew, error) {
	c := make(crew, size)
	prefix := p.backend.NewPrefix()
	for i := range c {
		var err error
		if c[i], err = newWorker(p, p.single(), prefix); err != nil {
			return nil, err
		}
	}
	_, err := c[0].limiter.Peek(ctx, "first")
	return c, err
}

func newWorker(p pair, st store.Store, prefix string) (*worker, error) {
	w := &worker{now: simulatedStart(p.limit.Window)}
	var err error
	w.limiter, err = weir.New(p.algorithm, p.limit, st, &weir.Options{
		Prefix: prefix,
		Clock:  func() time.Time { return time.UnixMicro(w.now) },
	})
	return w, err
}

// take decides one request at a time in microseconds.
func (w *worker) take(ctx context.Context, at int64, key string, cost int64) (weir.Decision, error) {
	w.now = at
	return w.limiter.Take(ctx, key, cost)
}

// each lets every worker do its part; the first error ends all.
func (c crew) each(ctx context.Context, work func(ctx context.Context, i int, w *worker) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, w := range c {
		group.Go(func() error { return work(ctx, i, w) })
	}
	return group.Wait()
}
