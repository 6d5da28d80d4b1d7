package ask

import (
	"cmp"
	"slices"
)

// slack is how far the service's clock may be coarse or behind: some milliseconds, more where windows are long, since
// rates are rounded too.
func slack(window int64) int64 { return max(3_000, window/500) }

// report sums up what was answered.
func (r *runner) report(rep *Report) {
	window := r.Limit.Window.Microseconds()
	rep.Requests = r.sent.Load()
	for _, t := range r.trials {
		slices.SortFunc(t.answers, func(a, b answer) int { return cmp.Compare(a.at.lo, b.at.lo) })
		rep.count(t.answers)
		if t.name == inOneBurst {
			rep.AtOnce = max(rep.AtOnce, count(t.answers, allowed))
		}
	}
	rep.count(r.apart)
	rep.Unlimited = rep.Denied == 0 && rep.Allowed > 0
	rep.HeldUS = held(r.trials[0].answers, window/r.Limit.Count)
	rep.Steady, rep.RetryAfter, rep.Remaining, rep.Forged = r.steadyTruth(), r.retryAfterTruth(), r.remainingTruth(), r.forged

	clients := r.clients()
	if r.anew > 0 {
		rep.MaxInWindow = most(r.trials[0].answers, window)
	}
	for _, c := range clients {
		rep.MaxInWindow = max(rep.MaxInWindow, most(c.answers, window))
	}
	rep.TakesUS = r.takes()
	rep.TooSlow = rep.TakesUS > window/slowest
	if rep.Unlimited || rep.TooSlow || rep.Allowed == 0 {
		return
	}
	if rep.HeldUS > 0 {
		decision := r.slowestDenial()
		for i := range clients {
			clients[i].answers = unhold(clients[i].answers, decision)
		}
	}
	var seen []named
	for _, c := range clients {
		if h := newHistory(c.answers, slack(window)); len(h) > 0 {
			seen = append(seen, named{c.name, h})
		}
	}
	rep.Candidates = judge(r.Limit.Count, window, seen, rep.AtOnce)
}

func (rep *Report) count(answers []answer) {
	for _, a := range answers {
		switch a.outcome {
		case allowed:
			rep.Allowed++
		case denied:
			rep.Denied++
		default:
			rep.Errors++
			rep.Error = a.err.Error()
		}
	}
}

// asked is all that one client was answered.
type asked struct {
	name    string
	answers []answer
}

// clients are the trials' answers, together where there is only one client.
func (r *runner) clients() (all []asked) {
	for _, t := range r.trials[r.anew:] {
		if r.crowd.kind == onlyOne && len(all) > 0 {
			all[0].answers = append(all[0].answers, t.answers...)
			continue
		}
		all = append(all, asked{t.name, slices.Clone(t.answers)})
	}
	if r.crowd.kind == onlyOne && len(all) > 0 {
		all[0].name = "the one client"
	}
	return all
}

func (r *runner) slowestDenial() (most int64) {
	for _, t := range r.trials {
		for _, a := range t.answers {
			if a.outcome == denied {
				most = max(most, a.at.hi-a.at.lo)
			}
		}
	}
	return most
}

// slowest is which part of a window half of the answers may take.
const slowest = 8

// takes is the median time of an answer. Held ones are too few to matter.
func (r *runner) takes() int64 {
	var all []int64
	for _, t := range r.trials {
		for _, a := range t.answers {
			all = append(all, a.at.hi-a.at.lo)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
