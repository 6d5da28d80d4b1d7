package choose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/digits"
)

// most is how many requests a window may see by what is tolerated.
func (w Want) most() string {
	return count(w.limit().Count + int64(math.Floor(w.Over*float64(w.limit().Count)+slack)))
}

// early says in words what a candidate denies without need.
func (c Candidate) early(w Want) string {
	g, err := c.single.Shape(w.limit())
	limit := w.limit()
	switch d := g.Guarantee; {
	case err == nil && g.Capacity < limit.Count:
		return fmt.Sprintf("admits no more than %s at once", count(g.Capacity))
	case err != nil || d.Deficit == 0:
		return "denies nothing without need"
	case d.DeficitFor > 0:
		return fmt.Sprintf("may deny up to %s too early, %s of the window",
			span(d.DeficitFor), digits.Percent(float64(d.DeficitFor)/float64(limit.Window)))
	default:
		return fmt.Sprintf("may deny while %s of the limit is free", digits.Percent(c.Deny))
	}
}

// bound says in words what a candidate admits.
func (a *Answer) bound(c Candidate) string {
	evicted := ""
	if a.Store.Evicts {
		evicted = ", unless evicted,"
	}
	w := a.Want
	switch limit := w.limit().Count; {
	case w.Aligned && c.Over == 0 && c.Algorithm.String() == algorithms.FixedWindow().String():
		return fmt.Sprintf("never admits more than %s in one aligned window%s", count(limit), evicted)
	case c.MaxInWindow <= limit:
		return fmt.Sprintf("never admits more than %s in any window%s", count(limit), evicted)
	default:
		return fmt.Sprintf("admits up to %s in one window%s", count(c.MaxInWindow), evicted)
	}
}

// cost says what a client, and all of them, take.
func (a *Answer) cost(c Candidate) string {
	return fmt.Sprintf("%s a client, %s in all", size(c.Bytes.Expected), size(a.Total(c)))
}

// reason is what the best gives, and what it is traded for.
func (a *Answer) reason() string {
	if a.Best == nil {
		return a.nothing()
	}
	b := *a.Best
	bound := a.bound(b)
	if cage, _ := a.Want.cage(); a.Want.cageOf(b) != "" {
		bound = fmt.Sprintf("%s, but never more than %s in any %s,",
			strings.TrimSuffix(bound, ","), count(2*cage.Count), span(cage.Window))
	}
	return fmt.Sprintf("%s %s and %s, for %s and %s a request. %s.",
		b.Algorithm, bound, b.early(a.Want), a.cost(b), digits.Plural(b.Trips, "round trip"), a.trade(b))
}

// nothing is the reason where no candidate is left.
func (a *Answer) nothing() string {
	fits := func(c Candidate) bool { return c.needs == refusedMemory }
	if c, ok := least(a.Refused, fits, bytesOf); ok {
		return fmt.Sprintf("Nothing fits: the smallest, %s, takes %s. It needs more memory, or fewer clients.", c.Algorithm, c.Refused)
	}
	return fmt.Sprintf("Nothing can run: %s has %s. Any store with an atomic counter can run a fixed window.",
		a.Store.Name, a.Store.Capabilities)
}

// trade names the other side: of a bound, what would be cheaper without one; without a bound, what one would cost.
func (a *Answer) trade(b Candidate) string {
	all := slices.Concat(a.Ranked, a.Refused)
	runs := func(c Candidate) bool {
		return c.needs != refusedStore && c.needs != refusedCost && a.Want.cageOf(c) == "" && c.position != b.position
	}
	exact, hasExact := least(all, func(c Candidate) bool { return runs(c) && c.Over == 0 && c.Deny == 0 }, bytesOf)
	loose, hasLoose := least(all, func(c Candidate) bool { return runs(c) && c.Over > b.Over }, bytesOf)
	switch {
	case a.Want.Aligned && b.Over == 0 && b.Algorithm.String() == algorithms.FixedWindow().String():
		text := "A count is all that such a quota needs"
		if hasExact {
			text += fmt.Sprintf(": %s would hold to the limit in every sliding window too, for %s, and deny what the quota still allows",
				exact.Algorithm, a.cost(exact))
		}
		return text
	case b.Over == 0 && b.Deny == 0:
		text := "What is paid for is to remember when each request came"
		if hasLoose {
			text += fmt.Sprintf(": %s would take %s and admit up to %s",
				loose.Algorithm, size(loose.Bytes.Expected), count(loose.MaxInWindow))
		}
		return text + a.dearer(b)
	case b.Over == 0 && hasExact:
		return a.wouldTake(exact) + ", so what is given up is a few early denials, not the bound" + a.dearer(b)
	case b.Over == 0:
		return "What is given up is a few early denials, not the bound" + a.dearer(b)
	case hasExact:
		return fmt.Sprintf("%s, %s as much; what is given up for that is the bound, by up to %s%s",
			a.wouldTake(exact), times(exact.Bytes.Expected/b.Bytes.Expected), digits.Percent(b.Over), a.noCage(b))
	default:
		return fmt.Sprintf("No log that never admits more than %s can run here, so what is given up is the bound: "+
			"%s can come in one window%s", count(a.Want.limit().Count), count(b.MaxInWindow), a.noCage(b))
	}
}

// wouldTake says of an exact log what it needs.
func (a *Answer) wouldTake(exact Candidate) string {
	needs := a.cost(exact)
	if exact.needs == refusedMemory {
		needs = exact.Refused
	}
	return fmt.Sprintf("An exact log, %s, would take %s", exact.Algorithm, needs)
}

// dearer says what became of the best known log, where it would do as well and take more, or cannot be had.
func (a *Answer) dearer(b Candidate) string {
	for _, c := range slices.Concat(a.Ranked, a.Refused) {
		if c.single.Name() != algorithms.SlidingLog().Name() || c.Over > b.Over ||
			c.Plan.Name != "" && c.Bytes.Expected <= b.Bytes.Expected*1.1 {
			continue
		}
		switch {
		case c.needs == refusedStore:
			return fmt.Sprintf("; %s %s", c.Algorithm, c.Refused)
		case c.needs == refusedCost:
			return fmt.Sprintf("; %s, with an entry for each, takes a cost of %s at most, not %s",
				c.Algorithm, count(c.Plan.MaxCost), count(a.Want.Cost))
		case c.needs == refusedMemory:
			return fmt.Sprintf("; %s would take %s", c.Algorithm, c.Refused)
		case c.needs == refusedNot && c.Deny <= b.Deny:
			does := "decides the same"
			if c.Deny < b.Deny {
				does = "denies nothing without need"
			}
			if a.Want.Memory > 0 {
				does += " and is affordable too"
			}
			return fmt.Sprintf("; %s %s, at %s, %s as much", c.Algorithm, does, a.cost(c), times(c.Bytes.Expected/b.Bytes.Expected))
		}
	}
	return ""
}

// noCage says what became of the cage.
func (a *Answer) noCage(b Candidate) string {
	cage, useful := a.Want.cage()
	if a.Want.cageOf(b) != "" {
		return fmt.Sprintf(", and the cage of %s keeps the excess from coming at once", cage)
	}
	for _, c := range a.Refused {
		if useful && a.Want.cageOf(c) == b.Algorithm.String() {
			return fmt.Sprintf(", and no cage softens it: %s %s", c.Algorithm, c.Refused)
		}
	}
	return ""
}

func bytesOf(c Candidate) float64 { return c.Bytes.Expected }

// least finds, among those that match, the one whose cost is least.
func least(all []Candidate, match func(Candidate) bool, costOf func(Candidate) float64) (Candidate, bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return !match(c) })
	if len(all) == 0 {
		return Candidate{}, false
	}
	return slices.MinFunc(all, func(x, y Candidate) int { return cmp.Compare(costOf(x), costOf(y)) }), true
}
