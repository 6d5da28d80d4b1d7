package racy

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// SlidingLog is "sliding-log-racy": the time of every admitted request in a sorted
// set, as countless tutorials write it: remove what has expired, count, and add if
// there is room. Each command is atomic; the three together are not.
//
// What is wrong: between the count and the addition anybody else may count too. Where
// 9 of 10 are taken and 20 callers count before one of them adds, each sees room for
// one, and 29 stand in a window of 10. How many get through depends on how many
// callers there are and how slow the network is, not on the limit. A transaction does
// not help, since the decision falls outside of it; a script does.
//
// Each caller also brings its own clock, and removes by it: one that is a window
// ahead empties the log for all others.
//
// Two common faults it does not have: members are unique per request (a time as the
// member would count two requests of one microsecond as one), and a denied request
// adds nothing.
func SlidingLog() weir.Algorithm { return slidingLog{} }

type slidingLog struct{}

func (slidingLog) Name() string   { return "sliding-log-racy" }
func (slidingLog) String() string { return "sliding-log-racy" }

func (slidingLog) Shape(l weir.Limit) (weir.Shape, error) {
	return weir.Shape{
		Format:    "1",
		Capacity:  l.Count,
		Guarantee: weir.Guarantee{MaxInWindow: l.Count},
		MaxTTL:    max(l.Window, store.HousekeepingTTL),
		Plans: []weir.Plan{{
			Name:  "sorted set, command by command",
			Needs: store.CapSortedSet,
			Trips: 3, DeniedTrips: 4,
			Racy:    true,
			MaxCost: maxEntries,
			Bind: func(b weir.Binding) (weir.Bound, error) {
				return &boundSlidingLog{
					set: b.Store.(store.SortedSet), binding: b, caller: rand.Text(),
					limit: l.Count, window: l.Window.Microseconds(),
				}, nil
			},
		}},
	}, nil
}

type boundSlidingLog struct {
	set           store.SortedSet
	binding       weir.Binding
	caller        string // tells the members of one process from another's
	requests      atomic.Int64
	limit, window int64
}

func (s *boundSlidingLog) Keys(key string) []string { return []string{s.binding.Space + key} }

func (s *boundSlidingLog) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	at, err := now(s.binding)
	if err != nil {
		return store.Reply{}, err
	}
	name := s.binding.Space + key
	if cost == 0 {
		return s.peek(ctx, name, at)
	}
	if _, err := s.set.RemoveUpTo(ctx, name, at-s.window); err != nil {
		return store.Reply{}, err
	}
	count, err := s.set.Card(ctx, name)
	if err != nil {
		return store.Reply{}, err
	}
	if count+cost > s.limit {
		return s.denied(ctx, name, at, count, cost)
	}
	// What others add from here on, this decision does not know.
	if _, err := s.set.AddMembers(ctx, name, s.ttl(), s.members(at, cost)...); err != nil {
		return store.Reply{}, err
	}
	return store.Reply{Allowed: true, Remaining: s.limit - count - cost, ResetAfter: s.window}, nil
}

// peek counts the live members itself, since it must not remove the others.
func (s *boundSlidingLog) peek(ctx context.Context, name string, at int64) (store.Reply, error) {
	members, err := s.set.Range(ctx, name, 0, -1)
	if err != nil {
		return store.Reply{}, err
	}
	r := store.Reply{Allowed: true, Remaining: s.limit}
	for _, m := range members {
		if m.Score > at-s.window {
			r.Remaining, r.ResetAfter = max(r.Remaining-1, 0), m.Score+s.window-at
		}
	}
	return r, nil
}

// denied asks when the last member that must go will have gone, and when all will.
func (s *boundSlidingLog) denied(ctx context.Context, name string, at, count, cost int64) (store.Reply, error) {
	r := store.Reply{Remaining: max(s.limit-count, 0)}
	for _, ask := range []struct {
		rank  int64
		after *int64
	}{{count + cost - s.limit - 1, &r.RetryAfter}, {-1, &r.ResetAfter}} {
		members, err := s.set.Range(ctx, name, ask.rank, ask.rank)
		if err != nil {
			return store.Reply{}, err
		}
		*ask.after = 1 // somebody else may have removed it since the count
		for _, m := range members {
			*ask.after = max(m.Score+s.window-at, 1)
		}
	}
	return r, nil
}

func (s *boundSlidingLog) members(at, cost int64) []store.Member {
	members := make([]store.Member, cost)
	for i := range members {
		members[i] = store.Member{Score: at, Name: s.caller + strconv.FormatInt(s.requests.Add(1), 36)}
	}
	return members
}

func (s *boundSlidingLog) ttl() time.Duration {
	ttl := store.TTL(s.window)
	if s.binding.Clock != nil {
		ttl = max(ttl, store.HousekeepingTTL)
	}
	return ttl
}
