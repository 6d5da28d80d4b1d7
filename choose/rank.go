package choose

import (
	"cmp"
	"math"
	"slices"
)

// tolerances are tried in turn until one leaves a candidate: early denials are given in to before the bound is.
func (w Want) tolerances() []tolerance {
	return []tolerance{
		{over: w.Over, deny: w.Deny},
		{over: w.Over, deny: 1, least: func(c Candidate) float64 { return c.Deny }},
		{over: math.Inf(1), deny: w.Deny, least: func(c Candidate) float64 { return c.Over }},
		{over: math.Inf(1), deny: 1, least: func(c Candidate) float64 { return c.Over + c.Deny }},
	}
}

// tolerance is what may be, and what is to be least where that is more than was asked for.
type tolerance struct {
	over, deny float64
	least      func(Candidate) float64
}

const slack = 1e-9 // of parts that were divided

func (t tolerance) admits(c Candidate) bool {
	return c.needs == refusedNot && c.Over <= t.over+slack && c.Deny <= t.deny+slack
}

// rank parts the candidates and puts the best first.
func (a *Answer) rank(all []Candidate) {
	var used tolerance
	for i, t := range a.Want.tolerances() {
		used = t
		if slices.ContainsFunc(all, t.admits) {
			a.Within = i == 0
			break
		}
	}
	for _, c := range all {
		switch {
		case used.admits(c):
			a.Ranked = append(a.Ranked, c)
			continue
		case c.Over > used.over+slack:
			c.refuse(refusedOver, "may admit %s in a window: %s are tolerated", count(c.MaxInWindow), a.Want.most())
		case c.Deny > used.deny+slack:
			c.refuse(refusedDeny, "%s: %s is tolerated", c.early(a.Want), tolerated(a.Want.Deny))
		}
		if cage := a.Want.cageOf(c); cage == "" || c.needs != refusedOver && c.needs != refusedDeny {
			a.Refused = append(a.Refused, c) // a cage is refused as what it cages is
		}
	}
	a.Ranked = ordered(a.Ranked, used)
	a.cageFirst()
	if len(a.Ranked) > 0 {
		a.Best = &a.Ranked[0]
	}
}

// ordered picks the best again and again.
func ordered(all []Candidate, t tolerance) []Candidate {
	rest := slices.Clone(all)
	sorted := make([]Candidate, 0, len(all))
	for len(rest) > 0 {
		i := best(rest, t)
		sorted = append(sorted, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return sorted
}

// best narrows the candidates down, one principle after another, and returns the index of the first that is left.
func best(all []Candidate, t tolerance) int {
	left := make([]int, len(all))
	for i := range left {
		left[i] = i
	}
	narrow := func(band float64, cost func(Candidate) float64) {
		least := math.Inf(1)
		for _, i := range left {
			least = min(least, cost(all[i]))
		}
		left = slices.DeleteFunc(left, func(i int) bool { return cost(all[i]) > least*(1+band)+slack })
	}
	if t.least != nil {
		narrow(0, t.least)
	}
	narrow(0.10, func(c Candidate) float64 { return c.Bytes.Expected })
	narrow(0.10, func(c Candidate) float64 { return c.Bytes.Full })
	narrow(0, func(c Candidate) float64 { return float64(c.Trips) })
	narrow(0.25, func(c Candidate) float64 { return 1e6 / max(c.Speed.PerSecond, 1) })
	narrow(0, func(c Candidate) float64 { return c.Over })
	narrow(0, func(c Candidate) float64 { return c.Deny })
	return slices.MinFunc(left, func(i, j int) int { return cmp.Compare(all[i].position, all[j].position) })
}

// cageFirst puts the cage of the best before it, where there is one; other cages are no better than what they hold.
func (a *Answer) cageFirst() {
	bare := slices.IndexFunc(a.Ranked, func(c Candidate) bool { return a.Want.cageOf(c) == "" })
	if bare < 0 {
		return
	}
	best := a.Ranked[bare]
	i := slices.IndexFunc(a.Ranked, func(c Candidate) bool { return a.Want.cageOf(c) == best.Algorithm.String() })
	rest := a.Ranked
	if i >= 0 && best.Over > 0 {
		cage := a.Ranked[i]
		rest = slices.Delete(slices.Clone(rest), i, i+1)
		a.Ranked = append([]Candidate{cage}, rest...)
		return
	}
	rest = slices.Delete(slices.Clone(rest), bare, bare+1)
	a.Ranked = append([]Candidate{best}, rest...)
}

// cageOf names what a candidate cages; empty if it is no cage.
func (w Want) cageOf(c Candidate) string {
	cage, ok := w.cage()
	for _, a := range caged {
		if ok && c.Algorithm.String() == a.String()+"+"+cage.String() {
			return a.String()
		}
	}
	return ""
}
