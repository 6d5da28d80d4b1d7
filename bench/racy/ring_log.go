package racy

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// RingLog is "ring-log-racy": the times of the last L admitted requests in a list,
// by Discourse's own sequence of commands. It admits if LLEN is below the limit or the
// oldest, by LINDEX, has left the window; then LPUSH, LTRIM and EXPIRE, each on its own.
// The capability's push sets the TTL along, so EXPIRE comes with LPUSH here, not last.
//
// What is wrong: between the look and the push anybody else may look too, and all see
// the same free place. The list then hides it: LTRIM cuts it back to L, so the surplus
// is not even in the record, and nobody waits longer for it.
//
// Times are whole seconds, and so a window of W seconds ends up to a second early: L
// requests late in second 0 and L more early in second W lie within one window, even if
// nobody else is there. Hence the declared 2L, and no window with a part of a second.
//
// How much is left it can only bound from below, since expired times stand in the list
// until new ones push them out.
func RingLog() weir.Algorithm { return ringLog{} }

type ringLog struct{}

func (ringLog) Name() string   { return "ring-log-racy" }
func (ringLog) String() string { return "ring-log-racy" }

func (ringLog) Shape(l weir.Limit) (weir.Shape, error) {
	if l.Window < time.Second || l.Window%time.Second != 0 {
		return weir.Shape{}, &weir.FieldError{
			Field: "limit window", Value: l.Window.String(),
			Want: "whole seconds, at least 1s: ring-log-racy knows no parts of a second",
		}
	}
	return weir.Shape{
		Format:    "1",
		Capacity:  l.Count,
		Guarantee: weir.Guarantee{MaxInWindow: 2 * l.Count},
		MaxTTL:    max(2*l.Window, store.HousekeepingTTL),
		Plans: []weir.Plan{{
			Name:  "list, command by command",
			Needs: store.CapList,
			Trips: 4, DeniedTrips: 3,
			Racy:    true,
			MaxCost: maxEntries,
			Bind: func(b weir.Binding) (weir.Bound, error) {
				return &boundRingLog{
					list: b.Store.(store.List), binding: b,
					limit: l.Count, window: int64(l.Window / time.Second),
				}, nil
			},
		}},
	}, nil
}

type boundRingLog struct {
	list    store.List
	binding weir.Binding
	limit   int64
	window  int64 // seconds
}

func (r *boundRingLog) Keys(key string) []string { return []string{r.binding.Space + key} }

func (r *boundRingLog) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	at, err := now(r.binding)
	if err != nil {
		return store.Reply{}, err
	}
	name, second := r.binding.Space+key, at/microsPerSecond
	length, err := r.list.Len(ctx, name)
	if err != nil {
		return store.Reply{}, err
	}
	if cost == 0 {
		return r.look(ctx, name, at, length, 0)
	}
	// For a cost of 1 and a full list this is the oldest: the one that will drop off.
	last, found, err := r.second(ctx, name, r.limit-cost)
	if err != nil {
		return store.Reply{}, err
	}
	if found && length+cost > r.limit && second-last < r.window {
		return r.look(ctx, name, at, length, r.until(last, at))
	}
	// What others push from here on, this decision does not know.
	times := slices.Repeat([]string{strconv.FormatInt(second, 10)}, int(cost))
	if _, err := r.list.PushFront(ctx, name, r.ttl(), times...); err != nil {
		return store.Reply{}, err
	}
	if err := r.list.Trim(ctx, name, 0, r.limit-1); err != nil {
		return store.Reply{}, err
	}
	return store.Reply{
		Allowed: true, Remaining: max(r.limit-length-cost, 0), ResetAfter: r.until(second, at),
	}, nil
}

// look answers what takes nothing: a peek, or a denial if retry is above zero.
func (r *boundRingLog) look(ctx context.Context, name string, at, length, retry int64) (store.Reply, error) {
	newest, found, err := r.second(ctx, name, 0)
	if err != nil {
		return store.Reply{}, err
	}
	reply := store.Reply{Allowed: retry == 0, Remaining: r.limit, RetryAfter: retry}
	if reset := r.until(newest, at); found && reset > 0 {
		reply.Remaining, reply.ResetAfter = max(r.limit-length, 0), reset
	}
	return reply, nil
}

// second reads the i-th newest time.
func (r *boundRingLog) second(ctx context.Context, name string, i int64) (second int64, found bool, err error) {
	value, found, err := r.list.Index(ctx, name, i)
	if err != nil || !found {
		return 0, false, err
	}
	if second, err = strconv.ParseInt(value, 10, 64); err != nil {
		return 0, false, fmt.Errorf("racy: %.40q is no time in seconds: %w", value, store.ErrCorrupt)
	}
	return second, true, nil
}

const microsPerSecond = 1_000_000

// until is how long after at, in microseconds, a time leaves the window.
func (r *boundRingLog) until(second, at int64) int64 {
	return (second+r.window)*microsPerSecond - at
}

func (r *boundRingLog) ttl() time.Duration {
	ttl := 2 * time.Duration(r.window) * time.Second
	if r.binding.Clock != nil {
		ttl = max(ttl, store.HousekeepingTTL)
	}
	return ttl
}
