package hammer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// Work is a worker process: it reads orders from in and answers them on out until in
// ends. A program calls it in the process that [Config.Command] starts. The error is
// not nil where in or out broke off or held what [Run] does not send.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &worker{}
	defer w.close()

	// The input is watched also during a run, which its end stops.
	orders, broken := make(chan order), make(chan error, 1)
	go func() {
		defer close(orders)
		defer cancel()
		broken <- watch(ctx, in, orders)
	}()
	for o := range orders {
		t, err := w.obey(ctx, o)
		r := reply{Tally: t}
		if err != nil {
			r.Error = err.Error()
		}
		if err := send(out, r); err != nil {
			return fmt.Errorf("hammer: worker's output: %w", err)
		}
	}
	return <-broken
}

func watch(ctx context.Context, in io.Reader, orders chan<- order) error {
	d := json.NewDecoder(in)
	for {
		var o order
		switch err := d.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("hammer: worker's input: %w: want the orders of weir hammer", err)
		}
		select {
		case orders <- o:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// worker is the state of a worker process.
type worker struct {
	setup   setup
	store   store.Store
	task    task
	limiter *weir.Weir
}

func (w *worker) close() {
	if w.store != nil {
		_ = w.store.Close() // the process ends
	}
}

func (w *worker) obey(ctx context.Context, o order) (sum *tally, err error) {
	switch {
	case o.Setup != nil && w.store == nil:
		w.setup = *o.Setup
		w.store, err = open(w.setup.Store, w.setup.Workers)
		return nil, err
	case o.Task != nil && w.store != nil:
		return nil, w.prepare(ctx, *o.Task)
	case o.Fire && w.limiter != nil:
		t := w.fire(ctx)
		w.limiter = nil
		return &t, nil
	default:
		return nil, errors.New("hammer: worker: order out of turn: want a setup, then tasks, each with a fire")
	}
}

// prepare makes the limiter and peeks once with every worker, so that connections are
// open and scripts known when the run starts. A peek writes nothing.
func (w *worker) prepare(ctx context.Context, t task) error {
	a, err := ParseAlgorithm(t.Algorithm)
	if err != nil {
		return err
	}
	limit, err := weir.ParseLimit(t.Limit)
	if err != nil {
		return err
	}
	limiter, err := weir.New(a, limit, w.store, &weir.Options{Prefix: t.Prefix})
	if err != nil {
		return err
	}
	var g errgroup.Group
	for range w.setup.Workers {
		g.Go(func() error {
			_, err := limiter.Peek(ctx, t.Key)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	w.task, w.limiter = t, limiter
	return nil
}

// fire lets the workers loose on the key.
func (w *worker) fire(ctx context.Context) tally {
	var (
		left  atomic.Int64
		start = make(chan struct{})
		mu    sync.Mutex
		sum   tally
		wg    sync.WaitGroup
	)
	left.Store(w.task.Requests)
	for i := range w.setup.Workers {
		wg.Go(func() {
			var own tally
			<-start
			wait(ctx, time.Duration(w.task.BeginUS+int64(i)*w.task.EveryUS)*time.Microsecond)
			for own.Errors == 0 && left.Add(-1) >= 0 {
				own.count(w.limiter.Take(ctx, w.task.Key, 1))
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(own)
		})
	}
	close(start)
	wg.Wait()
	return sum
}

// wait returns after d, or when ctx ends, which the request that follows then reports.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (t *tally) count(d weir.Decision, err error) {
	switch {
	case err != nil:
		t.Errors++
		t.Error = err.Error()
	case d.Allowed:
		t.Allowed++
	default:
		t.Denied++
	}
}
