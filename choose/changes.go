package choose

import (
	"fmt"
	"slices"

	"github.com/weirlimits/weir/internal/digits"
	"github.com/weirlimits/weir/store"
)

// change is another question, and how it differs.
type change struct {
	with  string
	store store.Traits
	want  Want
}

// changes answers other questions the same way, and keeps those whose answer is another.
func (a *Answer) changes(s *scale) (lines []string, err error) {
	questions, err := a.questions(s)
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		other, err := s.answer(q.store, q.want)
		if err != nil {
			return nil, err
		}
		if other.Best == nil || a.Best != nil && other.Best.Algorithm.String() == a.Best.Algorithm.String() {
			continue
		}
		b := *other.Best
		line := fmt.Sprintf("%s: %s, which %s and %s, for %s and %s", q.with, b.Algorithm, other.bound(b), b.early(q.want),
			other.cost(b), digits.Plural(b.Trips, "round trip"))
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// questions are those that somebody who could change one thing would ask.
func (a *Answer) questions(s *scale) ([]change, error) {
	var all []change
	ask := func(with string, t store.Traits, edit func(*Want)) {
		w := a.Want
		edit(&w)
		all = append(all, change{with, t, w})
	}
	same := func(*Want) {}
	if !a.Store.Capabilities.Has(store.CapScript) {
		redis, err := Named("redis")
		if err != nil {
			return nil, err
		}
		ask("With Redis instead of "+a.Store.Name, redis, same)
	}
	if !a.Store.Capabilities.Has(store.CapScript) && !a.Store.Capabilities.Has(store.CapSwap) {
		swaps := a.Store
		swaps.Capabilities |= store.CapSwap
		ask("With compare-and-swap, which memcached has", swaps, same)
	}
	if a.Want.Over > 0 || a.Want.Deny > 0 {
		ask("With nothing tolerated (over=0, deny=0)", a.Store, func(w *Want) { w.Over, w.Deny = 0, 0 })
	}
	if a.Want.Deny < 0.05 {
		ask("With 5 % of early denials tolerated (deny=5%)", a.Store, func(w *Want) { w.Deny = 0.05 })
	}
	if a.Want.Over < 1 {
		ask("With twice the limit tolerated at worst (over=100%)", a.Store, func(w *Want) { w.Over = 1 })
	}
	if !a.Want.Aligned && len(a.Want.Limits) == 1 && a.Want.Over < 1 {
		ask("If the limit is meant for aligned windows, as quotas are billed", a.Store, func(w *Want) { w.Aligned = true })
	}
	if a.Want.Memory > 0 {
		if need := a.roomier(s); need > 0 {
			with := fmt.Sprintf("With %s instead of %s", size(need), size(float64(a.Want.Memory)))
			ask(with, a.Store, func(w *Want) { w.Memory = 0 })
		}
	}
	return all, nil
}

// roomier is what would be needed for the best of what memory alone refused; zero where that is nothing.
func (a *Answer) roomier(s *scale) float64 {
	w := a.Want
	w.Memory = 0
	other, err := s.answer(a.Store, w)
	if err != nil || other.Best == nil {
		return 0
	}
	if need := other.Total(*other.Best); need > float64(a.Want.Memory) {
		return need
	}
	return 0
}
