package oracle

import "slices"

// NewLog returns the exact rule: it keeps every admission and lets no window (t-window, t] hold more than limit.
func NewLog(limit, window int64) *Model {
	return &Model{&log{limit: max(limit, 1), window: max(window, 1)}}
}

type log struct {
	limit, window int64
	admitted      []admission // oldest first
}

type admission struct{ time, cost int64 }

func (l *log) gone(a admission, t int64) bool { return a.time <= t-l.window }

func (l *log) used(t int64) int64 {
	var sum int64
	for _, a := range l.admitted {
		if !l.gone(a, t) {
			sum += a.cost
		}
	}
	return sum
}

func (l *log) capacity() int64 { return l.limit }

func (l *log) fits(t, n int64) bool { return l.used(t)+n <= l.limit }

func (l *log) remaining(t int64) int64 { return l.limit - l.used(t) }

// wait tries the instants at which something leaves the window: only there does room appear, and with
// the last of them all of it.
func (l *log) wait(t, n int64) int64 {
	earliest := l.reset(t)
	for _, a := range slices.Backward(l.admitted) {
		if leaves := a.time + l.window; leaves > t && l.fits(leaves, n) {
			earliest = leaves - t
		}
	}
	return earliest
}

func (l *log) reset(t int64) int64 {
	if len(l.admitted) == 0 {
		return 0
	}
	newest := l.admitted[len(l.admitted)-1]
	return max(0, newest.time+l.window-t)
}

func (l *log) record(t, n int64) {
	l.admitted = slices.DeleteFunc(l.admitted, func(a admission) bool { return l.gone(a, t) })
	l.admitted = append(l.admitted, admission{t, n})
}

func (l *log) clone() rule {
	c := *l
	c.admitted = slices.Clone(l.admitted)
	return &c
}
