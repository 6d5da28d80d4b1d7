package oracle

import "math/big"

// NewSlidingCounter returns the rule of two weighted windows, aligned to time zero. At e microseconds into a
// window it counts what the window admitted, plus what the one before admitted times (window-e)/window,
// and lets no more than limit be reached, compared as rational numbers.
func NewSlidingCounter(limit, window int64) *Model {
	return &Model{&slidingCounter{limit: max(limit, 1), window: max(window, 1)}}
}

type slidingCounter struct {
	limit, window     int64
	index             int64 // the window of the last admission
	previous, current int64 // cost admitted in the window before it, and in it
}

// counts returns the cost admitted in the window before that of t, and in that of t.
func (s *slidingCounter) counts(t int64) (previous, current int64) {
	switch indexOf(t, s.window) {
	case s.index:
		return s.previous, s.current
	case s.index + 1:
		return s.current, 0
	default:
		return 0, 0
	}
}

func (s *slidingCounter) untilEnd(t int64) int64 { return (indexOf(t, s.window)+1)*s.window - t }

func (s *slidingCounter) used(t int64) *big.Rat {
	previous, current := s.counts(t)
	weight := big.NewRat(s.untilEnd(t), s.window)
	weight.Mul(weight, whole(previous))
	return weight.Add(weight, whole(current))
}

func (s *slidingCounter) capacity() int64 { return s.limit }

func (s *slidingCounter) fits(t, n int64) bool {
	used := s.used(t)
	return used.Add(used, whole(n)).Cmp(whole(s.limit)) <= 0
}

func (s *slidingCounter) remaining(t int64) int64 {
	return floor(new(big.Rat).Sub(whole(s.limit), s.used(t)))
}

// wait finds the window in which room appears, and in it the weight at which it does.
func (s *slidingCounter) wait(t, n int64) int64 {
	previous, current := s.counts(t)
	if current+n <= s.limit {
		return s.untilEnd(t) - s.lightEnough(previous, s.limit-n-current)
	}
	return s.untilEnd(t) + s.window - s.lightEnough(current, s.limit-n)
}

// lightEnough returns for how many microseconds before the end of a window the weight of previous is at
// most room: the largest r with previous*r/window <= room. The previous is above room, which is not negative.
func (s *slidingCounter) lightEnough(previous, room int64) int64 {
	r := big.NewRat(s.window, previous)
	return floor(r.Mul(r, whole(room)))
}

func (s *slidingCounter) reset(t int64) int64 {
	previous, current := s.counts(t)
	switch {
	case current > 0:
		return s.untilEnd(t) + s.window
	case previous > 0:
		return s.untilEnd(t)
	default:
		return 0
	}
}

func (s *slidingCounter) record(t, n int64) {
	previous, current := s.counts(t)
	s.index, s.previous, s.current = indexOf(t, s.window), previous, current+n
}

func (s *slidingCounter) clone() rule {
	c := *s
	return &c
}
