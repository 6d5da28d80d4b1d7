package ask

import (
	"fmt"
	"slices"
)

// A wait is told in whole seconds.
const waitGrain = 1_000_000

// retryAfterTruth counts how often who waited as long as told was then admitted.
func (r *runner) retryAfterTruth() (v RetryAfter) {
	v.Truth = Absent
	for _, t := range r.trials {
		v.late(t)
		for _, a := range t.answers {
			if a.outcome != denied {
				continue
			}
			v.Denials++
			if a.wait != untold {
				v.Told++
			}
		}
		if t.name != waiting {
			continue
		}
		for _, a := range t.answers {
			if !t.shots[a.shot].wait || a.outcome == failed {
				continue
			}
			v.Waited++
			if a.outcome == allowed {
				v.Held++
			}
		}
	}
	switch {
	case v.Told == 0:
		v.Truth = Absent
	case v.Held < v.Waited:
		v.Truth, v.Detail = False, fmt.Sprintf("%d of %d who waited as told were denied again", v.Waited-v.Held, v.Waited)
	case v.LateUS > 0:
		v.Truth, v.Detail = False, "it asks to wait up to "+micros(v.LateUS)+" longer than the grain of a second explains"
	case v.Waited == 0:
		v.Truth, v.Detail = Unknown, "it asks to wait longer than the run could"
	case v.Told < v.Denials:
		v.Truth, v.Detail = True, fmt.Sprintf("%d of %d denials did not say it", v.Denials-v.Told, v.Denials)
	default:
		v.Truth = True
	}
	return v
}

// late looks for who asked again before the time that it was told, and was admitted.
func (v *RetryAfter) late(t *trial) {
	for _, d := range t.answers {
		if d.outcome != denied || d.wait == untold {
			continue
		}
		for _, a := range t.answers {
			if a.outcome == allowed && a.at.lo > d.at.hi {
				v.LateUS = max(v.LateUS, d.at.lo+d.wait-waitGrain-a.at.hi)
			}
		}
	}
}

// remainingTruth compares what answers promised with what was then admitted, where requests came one by one.
func (r *runner) remainingTruth() (v Remaining) {
	v.Truth = Absent
	if field := r.field.Load(); field != nil {
		v.Field, v.Truth = *field, Unknown
	}
	var clients, under int
	for _, t := range r.trials {
		if t.name != oneByOne {
			continue
		}
		checked, over, less := t.promises(r.Limit.Count, r.Limit.Window.Microseconds())
		v.Checked += checked
		v.Over += over
		v.Under += less
		if checked > 0 {
			clients++
		}
		if less > 0 {
			under++
		}
	}
	switch {
	case v.Checked == 0:
	case v.Over > 0, 2*under > clients: // a boundary gives places back to one client at most
		v.Truth = False
	default:
		v.Truth, v.Under = True, 0
	}
	return v
}

// promises compares what remained with the admissions from there to the next denial, less what time may have given back
// meanwhile.
func (t *trial) promises(limit, window int64) (checked, over, under int64) {
	for i, a := range t.answers {
		if a.remaining == untold || a.outcome != allowed {
			continue
		}
		end := slices.IndexFunc(t.answers[i:], func(b answer) bool { return b.outcome != allowed })
		if end < 0 || t.answers[i+end].outcome == failed {
			return checked, over, under
		}
		checked++
		next := int64(end - 1)
		back := (t.answers[i+end].at.hi-a.at.lo)*limit/window + 1
		switch {
		case next < a.remaining:
			over++
		case next > a.remaining+back:
			under++
		}
	}
	return checked, over, under
}

// steadyTruth counts those that came at the limit's rate after a burst.
func (r *runner) steadyTruth() (s Steady) {
	for _, t := range r.trials {
		if t.name != atTheRate {
			continue
		}
		for _, a := range t.answers {
			if a.shot == 0 || a.outcome == failed {
				continue
			}
			s.Asked++
			if a.outcome == allowed {
				s.Allowed++
			}
		}
	}
	return s
}
