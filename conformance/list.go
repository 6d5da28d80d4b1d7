package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weirlimits/weir/store"
)

var listChecks = []check{
	{
		name: "list/order", rule: "PushFront, Trim, Index and Len work on one list per key, newest first",
		needs: store.CapList, run: listOrder,
	},
	{
		name: "list/atomic", rule: "64 callers push at once: none is lost, and each is told another length",
		needs: store.CapList, run: listAtomic,
	},
	{
		name: "list/keys", rule: "any bytes are a key, and two keys never meet",
		needs: store.CapList,
		run: func(ctx context.Context, p *probe) error {
			return p.distinct(ctx, "k", listHolder(p.st.(store.List)))
		},
	},
	{
		name: "list/ttl", rule: "a list lives at least its TTL, and is gone soon after",
		needs: store.CapList, waits: true,
		run: func(ctx context.Context, p *probe) error { return p.watch(ctx, listLife(ctx, p)) },
	},
	{
		name: "list/ttl-renewed", rule: "each PushFront sets the TTL anew",
		needs: store.CapList, waits: true,
		run: func(ctx context.Context, p *probe) error {
			l := listLife(ctx, p)
			l.half, l.renews = l.create, true
			return p.watch(ctx, l)
		},
	},
}

// listHolder keeps a number as the only element.
func listHolder(st store.List) holder {
	return holder{
		put: func(ctx context.Context, key string, n int64, ttl time.Duration) error {
			_, err := st.PushFront(ctx, key, ttl, strconv.FormatInt(n, 10))
			return err
		},
		get: func(ctx context.Context, key string) (int64, error) {
			text, ok, err := st.Index(ctx, key, 0)
			if err != nil || !ok {
				return 0, err
			}
			return strconv.ParseInt(text, 10, 64)
		},
	}
}

func listLife(ctx context.Context, p *probe) life {
	st, key := p.st.(store.List), p.key("k")
	return life{
		create: func() error { return listHolder(st).put(ctx, key, 1, watchedTTL) },
		alive: func() (bool, error) {
			n, err := st.Len(ctx, key)
			return n > 0, err
		},
	}
}

// listEvent pushes so many values if push is above zero, and else trims.
type listEvent struct {
	push        int
	start, stop int64
}

func listOrder(ctx context.Context, p *probe) error {
	for range 3 * p.suite.cfg.Effort {
		events := make([]listEvent, 16)
		for i := range events {
			if p.rng.IntN(3) > 0 {
				events[i].push = 1 + p.rng.IntN(3)
			} else {
				events[i].start, events[i].stop = p.rng.Int64N(4)-1, p.rng.Int64N(12)-3
			}
		}
		if err := shortest(ctx, p, events, p.listAll); err != nil {
			return err
		}
	}
	return nil
}

func (p *probe) listAll(ctx context.Context, space string, events []listEvent) error {
	st, key := p.st.(store.List), p.key(space+"l")
	var j journal
	var want []string // newest first
	for i, e := range events {
		if e.push > 0 {
			values := make([]string, e.push)
			for at := range values {
				values[at] = fmt.Sprintf("%d.%d", i, at)
				want = slices.Insert(want, 0, values[at])
			}
			n, err := st.PushFront(ctx, key, time.Minute, values...)
			if err != nil {
				return err
			}
			j.note("PushFront(k, %q) = %d", values, n)
			if n != int64(len(want)) {
				return j.failf("PushFront returns %d: want %d", n, len(want))
			}
		} else {
			if err := st.Trim(ctx, key, e.start, e.stop); err != nil {
				return err
			}
			j.note("Trim(k, %d, %d)", e.start, e.stop)
			want = slices.Clone(ranked(want, e.start, e.stop))
		}
		n, err := st.Len(ctx, key)
		if err != nil {
			return err
		}
		if n != int64(len(want)) {
			return j.failf("Len returns %d: want %d", n, len(want))
		}
		for _, at := range []int64{0, -1, n / 2, n, -n - 1} {
			value, ok, err := st.Index(ctx, key, at)
			if err != nil {
				return err
			}
			if one := ranked(want, at, at); ok != (len(one) == 1) || ok && value != one[0] {
				return j.failf("Index(%d) returns %q, %t: want %q", at, value, ok, one)
			}
		}
	}
	return nil
}

// ranked returns the part of list from start to stop, both included; negative numbers
// count from the end.
func ranked[E any](list []E, start, stop int64) []E {
	n := int64(len(list))
	if start == stop && (start >= n || start < -n) {
		return nil // one element, and it is not there
	}
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	stop = min(stop, n-1)
	if start > stop {
		return nil
	}
	return list[start : stop+1]
}

func listAtomic(ctx context.Context, p *probe) error {
	st := p.st.(store.List)
	for round := range 2 * p.suite.cfg.Effort {
		key := p.key(fmt.Sprint("hot", round))
		told := make([]int64, callers)
		if err := together(func(i int) (err error) {
			told[i], err = st.PushFront(ctx, key, time.Minute, strconv.Itoa(i))
			return err
		}); err != nil {
			return err
		}
		n, err := st.Len(ctx, key)
		if err != nil {
			return err
		}
		if n != callers {
			return failf("%d callers pushed one value each, and the length is %d", callers, n)
		}
		if err := allDifferent(told, 1); err != nil {
			return err
		}
	}
	return nil
}
