package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

var sortedSetChecks = []check{
	{
		name: "sorted-set/order", rule: "a sorted set holds each name once, ordered by score and then by name, scores to 53 bits exact",
		needs: store.CapSortedSet, run: setOrder,
	},
	{
		name: "sorted-set/atomic", rule: "64 callers add at once: none is lost, and each name is new to exactly one",
		needs: store.CapSortedSet, run: setAtomic,
	},
	{
		name: "sorted-set/keys", rule: "any bytes are a key, and two keys never meet",
		needs: store.CapSortedSet,
		run: func(ctx context.Context, p *probe) error {
			return p.distinct(ctx, "k", setHolder(p.st.(store.SortedSet)))
		},
	},
	{
		name: "sorted-set/ttl", rule: "a sorted set lives at least its TTL, and is gone soon after",
		needs: store.CapSortedSet, waits: true,
		run: func(ctx context.Context, p *probe) error { return p.watch(ctx, setLife(ctx, p)) },
	},
	{
		name: "sorted-set/ttl-renewed", rule: "each AddMembers sets the TTL anew",
		needs: store.CapSortedSet, waits: true,
		run: func(ctx context.Context, p *probe) error {
			l := setLife(ctx, p)
			l.half, l.renews = l.create, true
			return p.watch(ctx, l)
		},
	},
}

// setHolder keeps a number as the score of the only member.
func setHolder(st store.SortedSet) holder {
	return holder{
		put: func(ctx context.Context, key string, n int64, ttl time.Duration) error {
			_, err := st.AddMembers(ctx, key, ttl, store.Member{Score: n, Name: "n"})
			return err
		},
		get: func(ctx context.Context, key string) (int64, error) {
			members, err := st.Range(ctx, key, 0, 0)
			if err != nil || len(members) == 0 {
				return 0, err
			}
			return members[0].Score, nil
		},
	}
}

func setLife(ctx context.Context, p *probe) life {
	st, key := p.st.(store.SortedSet), p.key("k")
	return life{
		create: func() error { return setHolder(st).put(ctx, key, 1, watchedTTL) },
		alive: func() (bool, error) {
			n, err := st.Card(ctx, key)
			return n > 0, err
		},
	}
}

// setEvent adds members if there are any, and else removes up to a score.
type setEvent struct {
	add []store.Member
	max int64
}

func setOrder(ctx context.Context, p *probe) error {
	const base = 1<<53 - 100 // near the largest score
	for range 3 * p.suite.cfg.Effort {
		events := make([]setEvent, 16)
		for i := range events {
			if p.rng.IntN(3) == 0 {
				events[i].max = base + p.rng.Int64N(14)
				continue
			}
			for range 1 + p.rng.IntN(3) {
				events[i].add = append(events[i].add, store.Member{
					Score: base + p.rng.Int64N(20), Name: string(rune('a' + p.rng.IntN(9))),
				})
			}
			events[i].add = uniqueNames(events[i].add)
		}
		if err := shortest(ctx, p, events, p.setAll); err != nil {
			return err
		}
	}
	return nil
}

func uniqueNames(members []store.Member) []store.Member {
	slices.SortFunc(members, func(a, b store.Member) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(members, func(a, b store.Member) bool { return a.Name == b.Name })
}

func (p *probe) setAll(ctx context.Context, space string, events []setEvent) error {
	st, key := p.st.(store.SortedSet), p.key(space+"z")
	var j journal
	scores := map[string]int64{}
	for _, e := range events {
		var changed, want int64
		var err error
		if e.add != nil {
			for _, m := range e.add {
				if _, had := scores[m.Name]; !had {
					want++
				}
				scores[m.Name] = m.Score
			}
			changed, err = st.AddMembers(ctx, key, time.Minute, e.add...)
			j.note("AddMembers(k, %v) = %d", e.add, changed)
		} else {
			for name, score := range scores {
				if score <= e.max {
					delete(scores, name)
					want++
				}
			}
			changed, err = st.RemoveUpTo(ctx, key, e.max)
			j.note("RemoveUpTo(k, %d) = %d", e.max, changed)
		}
		if err != nil {
			return err
		}
		if changed != want {
			return j.failf("it returns %d: want %d", changed, want)
		}
		if err := p.setHolds(ctx, key, &j, scores); err != nil {
			return err
		}
	}
	return nil
}

// setHolds compares the whole set, and a part of it.
func (p *probe) setHolds(ctx context.Context, key string, j *journal, scores map[string]int64) error {
	st := p.st.(store.SortedSet)
	want := make([]store.Member, 0, len(scores))
	for name, score := range scores {
		want = append(want, store.Member{Score: score, Name: name})
	}
	slices.SortFunc(want, func(a, b store.Member) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.Name, b.Name))
	})
	n, err := st.Card(ctx, key)
	if err != nil {
		return err
	}
	if n != int64(len(want)) {
		return j.failf("Card returns %d: want %d", n, len(want))
	}
	for _, r := range [][2]int64{{0, -1}, {1, -2}, {-2, 7}} {
		got, err := st.Range(ctx, key, r[0], r[1])
		if err != nil {
			return err
		}
		if part := ranked(want, r[0], r[1]); !slices.Equal(got, part) {
			return j.failf("Range(%d, %d) returns %v: want %v", r[0], r[1], got, part)
		}
	}
	return nil
}

func setAtomic(ctx context.Context, p *probe) error {
	st := p.st.(store.SortedSet)
	for round := range 2 * p.suite.cfg.Effort {
		key := p.key(fmt.Sprint("hot", round))
		var added atomic.Int64
		if err := together(func(i int) error {
			n, err := st.AddMembers(ctx, key, time.Minute,
				store.Member{Score: int64(i), Name: strconv.Itoa(i)}, store.Member{Score: 1, Name: "shared"})
			added.Add(n)
			return err
		}); err != nil {
			return err
		}
		n, err := st.Card(ctx, key)
		if err != nil {
			return err
		}
		if n != callers+1 || added.Load() != n {
			return failf("%d callers added a name each and a shared one: %d are there and %d were told new: want %d",
				callers, n, added.Load(), callers+1)
		}
	}
	return nil
}
