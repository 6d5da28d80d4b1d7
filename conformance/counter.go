package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirlimits/weir/store"
)

var counterChecks = []check{
	{
		name: "counter/count", rule: "Add and Read count as one number per key, never below zero; a missing key is zero",
		needs: store.CapCounter, run: counterCounts,
	},
	{
		name: "counter/atomic", rule: "64 callers add at once: none is lost, and each is told another count",
		needs: store.CapCounter, run: counterAtomic,
	},
	{
		name: "counter/linearizable", rule: "what callers who add, read and delete at once are told, some order of their calls explains",
		needs: store.CapCounter, run: counterLinearizable,
	},
	{
		name: "counter/overflow", rule: "an addition past MaxCounter changes nothing and returns ErrOverflow",
		needs: store.CapCounter, run: counterOverflow,
	},
	{
		name: "counter/keys", rule: "any bytes are a key, and two keys never meet",
		needs: store.CapCounter,
		run: func(ctx context.Context, p *probe) error {
			return p.distinct(ctx, "k", counterHolder(p.st.(store.Counter)))
		},
	},
	{
		name: "counter/ttl", rule: "a counter lives at least its TTL, and is gone soon after",
		needs: store.CapCounter, waits: true,
		run: func(ctx context.Context, p *probe) error { return p.watch(ctx, counterLife(ctx, p)) },
	},
	{
		name: "counter/ttl-kept", rule: "Add sets the TTL of a new counter only, and does not renew it",
		needs: store.CapCounter, waits: true,
		run: func(ctx context.Context, p *probe) error {
			l, st := counterLife(ctx, p), p.st.(store.Counter)
			l.half = func() error {
				_, err := st.Add(ctx, p.key("k"), 1, time.Hour)
				return err
			}
			return p.watch(ctx, l)
		},
	},
}

func counterHolder(st store.Counter) holder {
	return holder{
		put: func(ctx context.Context, key string, n int64, ttl time.Duration) error {
			_, err := st.Add(ctx, key, n, ttl)
			return err
		},
		get: func(ctx context.Context, key string) (int64, error) {
			counts, err := st.Read(ctx, key)
			if err != nil {
				return 0, err
			}
			if len(counts) != 1 {
				return 0, failf("Read of one key returns %d counts", len(counts))
			}
			return counts[0], nil
		},
	}
}

func counterLife(ctx context.Context, p *probe) life {
	h, key := counterHolder(p.st.(store.Counter)), p.key("k")
	return life{
		create: func() error { return h.put(ctx, key, 1, watchedTTL) },
		alive: func() (bool, error) {
			n, err := h.get(ctx, key)
			return n > 0, err
		},
	}
}

// counterEvent is an addition to one of three counters; a delta of forget deletes it.
type counterEvent struct {
	key   int
	delta int64
}

const forget = int64(-1) << 62

func counterCounts(ctx context.Context, p *probe) error {
	for range 4 * p.suite.cfg.Effort {
		events := make([]counterEvent, 40)
		for i := range events {
			e := counterEvent{key: p.rng.IntN(3), delta: p.rng.Int64N(12) - 4}
			if p.rng.IntN(12) == 0 {
				e.delta = forget
			}
			events[i] = e
		}
		if err := shortest(ctx, p, events, p.countAll); err != nil {
			return err
		}
	}
	return nil
}

// countAll holds the store's counters against plain numbers.
func (p *probe) countAll(ctx context.Context, space string, events []counterEvent) error {
	st := p.st.(store.Counter)
	var j journal
	var want [3]int64
	keys := make([]string, len(want))
	for i := range keys {
		keys[i] = p.key(fmt.Sprint(space, i))
	}
	for _, e := range events {
		if e.delta == forget {
			if err := st.Delete(ctx, keys[e.key]); err != nil {
				return err
			}
			want[e.key] = 0
			j.note("Delete(k%d)", e.key)
		} else {
			want[e.key] = max(want[e.key]+e.delta, 0)
			got, err := st.Add(ctx, keys[e.key], e.delta, time.Minute)
			if err != nil {
				return err
			}
			j.note("Add(k%d, %d) = %d", e.key, e.delta, got)
			if got != want[e.key] {
				return j.failf("Add returns %d: want %d", got, want[e.key])
			}
		}
		// The last key comes twice, and out of its order.
		got, err := st.Read(ctx, keys[2], keys[0], keys[1], keys[2])
		if err != nil {
			return err
		}
		if all := []int64{want[2], want[0], want[1], want[2]}; !slices.Equal(got, all) {
			j.note("Read(k2, k0, k1, k2) = %d", got)
			return j.failf("Read returns %d: want %d", got, all)
		}
	}
	return nil
}

func counterAtomic(ctx context.Context, p *probe) error {
	st := p.st.(store.Counter)
	const each = 8
	for round := range p.suite.cfg.Effort {
		key := p.key(fmt.Sprint("hot", round))
		told := make([][]int64, callers)
		if err := together(func(i int) error {
			for range each {
				n, err := st.Add(ctx, key, 1, time.Minute)
				if err != nil {
					return err
				}
				told[i] = append(told[i], n)
			}
			return nil
		}); err != nil {
			return err
		}
		n, err := counterHolder(st).get(ctx, key)
		if err != nil {
			return err
		}
		if n != callers*each {
			return failf("%d callers added 1 %d times each, and the count is %d: want %d", callers, each, n, callers*each)
		}
		if err := allDifferent(slices.Concat(told...), 1); err != nil {
			return err
		}
	}
	return nil
}

// allDifferent wants the numbers to be first, first+1 and so on, in any order.
func allDifferent(told []int64, first int64) error {
	slices.Sort(told)
	for i, n := range told {
		if want := first + int64(i); n != want {
			return failf("%d callers were told results that one after another would not get: %d where %d is due", callers, n, want)
		}
	}
	return nil
}

func counterOverflow(ctx context.Context, p *probe) error {
	st, most := p.st.(store.Counter), p.st.Traits().MaxCounter
	key := p.key("full")
	if _, err := st.Add(ctx, key, most-1, time.Minute); err != nil {
		return err
	}
	for _, delta := range []int64{2, most} {
		n, err := st.Add(ctx, key, delta, time.Minute)
		if !errors.Is(err, store.ErrOverflow) {
			return failf("adding %d to %d, where MaxCounter is %d, gives %d, %v: want ErrOverflow", delta, most-1, most, n, err)
		}
		got, err := counterHolder(st).get(ctx, key)
		if err != nil {
			return err
		}
		if got != most-1 {
			return failf("after an addition of %d that was refused the count is %d: want %d", delta, got, most-1)
		}
	}
	return nil
}
