package bench

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/weirlimits/weir/store"
)

// fill brings one new key into the state to be measured.
type fill func(ctx context.Context, w *worker, key string) error

// way is how many keys are filled.
type way struct {
	fill       fill
	short      int64 // by how many bytes such a key is smaller than one that took its events one by one
	affordable int64 // how many keys one can afford
}

// cheapest returns the cheapest way whose key is much like the one that took its events one by one.
// What they differ by is the store's own figure, and is added to the growth.
func (f *filler) cheapest(ctx context.Context, spread schedule, m *Memory) (way, error) {
	for _, cheap := range []fill{f.copyFirst, bulkSchedule(m.Events, f.crew[0].limiter).play} {
		if err := f.make(ctx, 1, cheap); err != nil {
			if ctx.Err() != nil {
				return way{}, err
			}
			continue
		}
		size, err := f.size(ctx, f.keys-1)
		if err != nil {
			return way{}, err
		}
		if short := m.KeyBytes - size; math.Abs(float64(short)) <= alike*float64(m.KeyBytes) {
			return way{fill: cheap, short: short, affordable: math.MaxInt64}, nil
		}
	}
	return way{fill: spread.play, affordable: max(2, singleRequests/m.Events)}, nil
}

var errNoCopy = errors.New("bench: the state cannot be copied")

// copyFirst gives a key a copy of the first one's state, where that is one value.
func (f *filler) copyFirst(ctx context.Context, w *worker, key string) error {
	swapper, ok := f.pair.backend.Store.(store.Swapper)
	names := w.limiter.Keys(key)
	if !ok || len(names) != 1 {
		return errNoCopy
	}
	if f.first == nil {
		var err error
		f.first, _, err = swapper.Load(ctx, f.crew[0].limiter.Keys(memoryKey(0))[0])
		if err != nil || f.first == nil {
			return cmp.Or(err, errNoCopy)
		}
	}
	created, err := swapper.Swap(ctx, names[0], "", f.first, store.HousekeepingTTL)
	if err == nil && !created {
		err = errNoCopy
	}
	return err
}

// make makes n more keys.
func (f *filler) make(ctx context.Context, n int, fill fill) error {
	first := f.keys
	f.keys += n
	return f.crew.each(ctx, func(ctx context.Context, i int, w *worker) error {
		w.now = memoryStart(f.pair.limit.Window)
		for k := first + i; k < f.keys; k += len(f.crew) {
			if err := fill(ctx, w, memoryKey(k)); err != nil {
				return err
			}
		}
		return nil
	})
}
