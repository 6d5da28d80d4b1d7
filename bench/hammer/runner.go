package hammer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/weirlimits/weir/internal/delay"
	"github.com/weirlimits/weir/store"
)

// runner makes the runs.
type runner struct {
	*Config
	done, total int // runs
	keys        int // that were used
}

// together makes, with one crew, all runs of targets that share store and latency.
func (r *runner) together(ctx context.Context, group []target) error {
	st, latency := group[0].store, group[0].latency
	url, err := st.url()
	if err != nil {
		return fmt.Errorf("hammer: %w", err)
	}
	if latency > 0 {
		proxy, err := delay.Start(st.Backend.Addr, latency)
		if err != nil {
			return fmt.Errorf("hammer: %s: %w", st.Backend.Name, err)
		}
		defer proxy.Close()
		if url, err = st.Backend.At(proxy.Addr()); err != nil {
			return fmt.Errorf("hammer: latency %v: %w", latency, err)
		}
	}
	c, err := muster(ctx, r.Command, r.Processes, setup{Store: url, Workers: r.Workers})
	if err != nil {
		return err
	}
	defer c.stop()
	for _, t := range group {
		if err := r.hammer(ctx, c, t); err != nil {
			return err
		}
	}
	return nil
}

// hammer makes all runs of one target and judges them. It returns an error only where
// the crew is of no more use.
func (r *runner) hammer(ctx context.Context, c *crew, t target) error {
	defer t.judge()
	defer func() { r.done += r.Runs }()
	for i := range r.Runs {
		if r.Progress != nil {
			r.Progress(r.done+i, r.total, *t.Result)
		}
		count, err := r.settle(ctx, c, t)
		switch _, lost := errors.AsType[*lostError](err); {
		case ctx.Err() != nil:
			return ctx.Err()
		case lost:
			return err
		case err != nil:
			t.Error = err.Error()
			return nil
		}
		t.Runs = append(t.Runs, count)
	}
	return nil
}

// settle makes one run, again where time freed a place during it.
func (r *runner) settle(ctx context.Context, c *crew, t target) (count Count, err error) {
	for restarts := range MaxRestarts + 1 {
		var from, to time.Time
		if count, from, to, err = r.once(ctx, c, t); err != nil || count.Errors > 0 {
			return count, err
		}
		count.Restarts = restarts
		if t.ExpectedMax == r.Requests { // all may pass, whatever time does
			return count, nil
		}
		count.PlaceFreed, err = placeFreed(t.limiter.Algorithm(), r.Limit, from, to)
		if err != nil || !count.PlaceFreed {
			return count, err
		}
	}
	return count, nil
}

// once lets all processes loose on a fresh key, and removes it. from and to enclose
// the run, by the clock that decides.
func (r *runner) once(ctx context.Context, c *crew, t target) (count Count, from, to time.Time, err error) {
	r.keys++
	key := strconv.Itoa(r.keys)
	names := t.limiter.Keys(key)
	defer func() {
		names = append(names, t.limiter.Keys(key)...) // those of the next window
		if e := remove(ctx, t.store.Backend.Store, names); err == nil && count.Errors == 0 {
			err = e
		}
	}()
	if _, err = c.all(ctx, func(i int) order {
		// The processes' workers begin in turn: the first of each, the second of each, ...
		step := r.Spread.Microseconds() / int64(r.Processes*r.Workers)
		return order{Task: &task{
			Algorithm: t.Algorithm, Limit: r.Limit.String(), Prefix: t.prefix, Key: key, Requests: r.share(i),
			BeginUS: step * int64(i), EveryUS: step * int64(r.Processes),
		}}
	}); err != nil {
		return count, from, to, err
	}
	if from, err = clock(ctx, t.store.Backend.Store); err != nil {
		return count, from, to, err
	}
	start := time.Now()
	sum, err := c.all(ctx, func(int) order { return order{Fire: true} })
	if err != nil {
		return count, from, to, err
	}
	count = Count{
		Allowed: sum.Allowed, Denied: sum.Denied, Errors: sum.Errors, Error: sum.Error,
		ElapsedUS: time.Since(start).Microseconds(),
	}
	if answered := sum.Allowed + sum.Denied; sum.Errors == 0 && answered != r.Requests {
		return count, from, to, fmt.Errorf("hammer: %d requests were answered: want all %d", answered, r.Requests)
	}
	if sum.Errors == 0 {
		to, err = clock(ctx, t.store.Backend.Store)
	}
	return count, from, to, err
}

// clock reads the time by which the store decides.
func clock(ctx context.Context, st store.Store) (time.Time, error) {
	if c, ok := st.(store.Clock); ok {
		return c.Now(ctx)
	}
	return time.Now(), nil
}

// removeGrace bounds the removal of keys, which happens also after ctx has ended.
const removeGrace = 5 * time.Second

func remove(ctx context.Context, st store.Store, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeGrace)
	defer cancel()
	return st.Delete(ctx, keys...)
}
