package oracle

// Never is the RetryAfter of a request that no wait helps.
const Never int64 = -1

// Verdict is what a model decided.
type Verdict struct {
	Allowed    bool
	Remaining  int64 // the largest cost that would be admitted at this instant, after this request
	RetryAfter int64 // microseconds, rounded up, until the same request is admitted if nothing else comes; zero when allowed, Never above capacity
	ResetAfter int64 // microseconds, rounded up, until the state is as if never used, after this request
}

// Model is one client's limiter in its plainest exact form, made by [NewLog], [NewFixedWindow],
// [NewFirstHit], [NewSlidingCounter] or [NewGCRA]. It is made to be right, not fast. It is not safe
// for concurrent use.
type Model struct {
	rule rule
}

// rule is what differs between models. Only record changes it.
type rule interface {
	capacity() int64         // the largest cost that is ever admitted
	fits(t, n int64) bool    // n >= 0 places are free at t
	remaining(t int64) int64 // the largest n >= 0 that fits at t
	wait(t, n int64) int64   // the smallest d > 0 such that n, which does not fit at t, fits at t+d
	reset(t int64) int64     // the smallest d >= 0 such that at t+d all is as if never used
	record(t, n int64)       // takes n > 0 places, which fit, at t
	clone() rule
}

// Take asks for n places at t, which must not lie before an earlier t. It is all or nothing: a denied
// request consumes nothing. An n of zero, or lower, peeks: it is allowed and consumes nothing.
func (m *Model) Take(t, n int64) Verdict {
	var v Verdict
	switch {
	case n <= 0:
		v.Allowed = true
	case n > m.rule.capacity():
		v.RetryAfter = Never
	case m.rule.fits(t, n):
		v.Allowed = true
		m.rule.record(t, n)
	default:
		v.RetryAfter = m.rule.wait(t, n)
	}
	v.Remaining = m.rule.remaining(t)
	v.ResetAfter = m.rule.reset(t)
	return v
}

// Clone returns a model in the same state that goes its own way from here.
func (m *Model) Clone() *Model { return &Model{rule: m.rule.clone()} }
