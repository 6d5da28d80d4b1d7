package ask

import "math"

// never is before all times.
const never = math.MinInt64 / 4

// cell is where the boundaries of aligned windows lie: k*window+phase, for some phase in it.
type cell = span

// floorDiv rounds down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// windows returns the first and the last window that an instant of at may be in.
func windows(at span, phase cell, window int64) (first, last int64) {
	return floorDiv(at.lo-phase.hi, window), floorDiv(at.hi-phase.lo, window)
}

// fixedWindow admits limit in each aligned window.
type fixedWindow struct {
	limit, window int64
	phase         cell
}

// counted is the window of the last admission, and how many it admitted.
type counted struct{ index, count int64 }

func (fixedWindow) idle() counted { return counted{index: never} }

func (f fixedWindow) admit(s counted, at span) (next []counted) {
	first, last := windows(at, f.phase, f.window)
	for i := max(first, s.index); i <= last; i++ {
		switch {
		case i > s.index:
			next = append(next, counted{i, 1})
		case s.count < f.limit:
			next = append(next, counted{i, s.count + 1})
		}
	}
	return next
}

func (f fixedWindow) deny(s counted, at span) []counted {
	first, last := windows(at, f.phase, f.window)
	if s.count < f.limit || s.index < first || s.index > last {
		return nil
	}
	return []counted{s}
}

// firstHit admits limit in a window that begins with the first admission after the last one's end.
type firstHit struct{ limit, window int64 }

// begun is when the window began, and how many it admitted.
type begun struct {
	start span
	count int64
}

func (firstHit) idle() begun { return begun{} }

func (f firstHit) admit(s begun, at span) (next []begun) {
	if s.count == 0 {
		return []begun{{at, 1}}
	}
	if s.count < f.limit && at.lo < s.start.hi+f.window {
		next = append(next, begun{f.running(s, at), s.count + 1})
	}
	if at.hi >= s.start.lo+f.window {
		next = append(next, begun{span{max(at.lo, s.start.lo+f.window), at.hi}, 1})
	}
	return next
}

func (f firstHit) deny(s begun, at span) []begun {
	if s.count < f.limit || at.lo >= s.start.hi+f.window {
		return nil
	}
	return []begun{{f.running(s, at), s.count}}
}

// running is when the window began, given that it has not ended in at.
func (f firstHit) running(s begun, at span) span {
	return span{max(s.start.lo, at.lo-f.window+1), s.start.hi}
}

// slidingCounter weighs the aligned window before by how much of it the sliding one still covers. Services
// round that weight in different ways: what any of them decides is possible here.
type slidingCounter struct {
	limit, window int64
	phase         cell
}

type counters struct{ index, previous, current int64 }

func (slidingCounter) idle() counters { return counters{index: never} }

func (s counters) in(index int64) counters {
	switch index {
	case s.index:
		return s
	case s.index + 1:
		return counters{index, s.current, 0}
	default:
		return counters{index: index}
	}
}

func (r slidingCounter) admit(s counters, at span) (next []counters) {
	first, last := windows(at, r.phase, r.window)
	for i := max(first, s.index); i <= last; i++ {
		c := s.in(i)
		left := max(0, (i+1)*r.window+r.phase.lo-at.hi)
		if c.previous*left < (r.limit-c.current)*r.window {
			c.current++
			next = append(next, c)
		}
	}
	return next
}

func (r slidingCounter) deny(s counters, at span) (next []counters) {
	first, last := windows(at, r.phase, r.window)
	for i := max(first, s.index); i <= last; i++ {
		c := s.in(i)
		left := min(r.window, (i+1)*r.window+r.phase.hi-at.lo)
		if c.previous*left > (r.limit-1-c.current)*r.window {
			next = append(next, c)
		}
	}
	return next
}
