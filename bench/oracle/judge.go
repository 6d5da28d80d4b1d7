package oracle

// Observation is one decision as a client saw it.
type Observation struct {
	Time       int64 // microseconds
	Cost       int64 // places asked for; zero is a peek, what is lower is read as zero
	Allowed    bool
	RetryAfter int64 // microseconds from Time, read when denied; below zero is never
	Remaining  int64 // places told to be left after it; below zero is not told
}

// Judge holds the decisions of one limiter against what that limiter itself had admitted before.
// Each key is judged alone. An observation costs amortised logarithmic time at most, and a key keeps
// no more than what lay in its window when it was last observed. A Judge is not safe for concurrent use.
type Judge struct {
	limit  int64
	window int64
	keys   map[string]*client
	report Report

	waits    differences // of the told waits and the true ones
	mistaken int64       // denials whose told wait is of the wrong kind
	counts   differences // of the told places left and the true ones
}

// client is what the judge knows of one key.
type client struct {
	newest int64
	own    history // admitted by the limiter
	exact  history // admitted by the exact log that is fed the same requests
}

// NewJudge returns a judge of a limiter that promises limit places in any window of so many microseconds.
func NewJudge(limit, window int64) *Judge {
	return &Judge{limit: max(limit, 1), window: max(window, 1), keys: make(map[string]*client)}
}

// Observe judges one decision. The observations of a key come in the order in which they were decided;
// where their times step back, the latest time so far counts.
func (j *Judge) Observe(key string, o Observation) {
	c := j.keys[key]
	if c == nil {
		c = &client{newest: o.Time}
		j.keys[key] = c
	}
	if o.Time < c.newest {
		j.report.SteppedBack++
	}
	c.newest = max(c.newest, o.Time)
	o.Cost = max(o.Cost, 0)
	c.own.advance(c.newest, j.window)
	c.exact.advance(c.newest, j.window)

	j.report.Events++
	if j.fits(&c.exact, o.Cost) {
		j.report.ExactAdmitted++
		j.report.ExactCost += o.Cost
		c.exact.add(c.newest, o.Cost)
	}
	if o.Allowed {
		j.allowed(key, c, o)
	} else {
		j.denied(c, o)
	}
	if o.Remaining >= 0 {
		j.counts.add(o.Remaining, max(0, j.limit-c.own.inWindow()))
	}
}

// allowed judges an admission, then takes it into the limiter's history.
//
// The most in any window is exact although only windows that end at an admission are looked at: as a
// window slides on, its sum grows at admissions only and falls between them, so no other end has more.
func (j *Judge) allowed(key string, c *client, o Observation) {
	j.report.Allowed++
	j.report.AdmittedCost += o.Cost
	if !j.fits(&c.own, o.Cost) {
		j.report.OverAdmitted++
	}
	c.own.add(c.newest, o.Cost)
	if sum := c.own.inWindow(); sum > j.report.MaxInWindow {
		j.report.MaxInWindow, j.report.MaxKey, j.report.MaxAt = sum, key, c.newest
	}
}

// denied judges a denial and the wait that it told.
func (j *Judge) denied(c *client, o Observation) {
	j.report.Denied++
	fits := j.fits(&c.own, o.Cost)
	if fits {
		j.report.FalseDenied++
	}
	if o.Cost == 1 {
		j.report.MaxDeficit = max(j.report.MaxDeficit, j.limit-c.own.inWindow())
	}
	switch {
	case o.Cost > j.limit && o.RetryAfter >= 0, o.Cost <= j.limit && o.RetryAfter < 0:
		j.mistaken++
	case o.Cost > j.limit: // rightly told never
	case fits:
		j.waits.add(o.RetryAfter, 0)
	default:
		// The wait counts from the client's own time, even where a later one is in force.
		blocking := c.own.leaves(c.own.inWindow() + o.Cost - j.limit)
		j.waits.add(o.RetryAfter, blocking+j.window-o.Time)
	}
}

// fits reports whether cost places are free. A peek needs none, so it fits even where too much was admitted.
func (j *Judge) fits(h *history, cost int64) bool {
	return cost == 0 || cost <= j.limit-h.inWindow()
}

// Report returns the judgement of all that was observed so far.
func (j *Judge) Report() Report {
	r := j.report
	r.Keys = len(j.keys)
	r.RetryError = RetryError{Count: j.waits.count, Mean: j.waits.mean(), Max: j.waits.most(), Mistaken: j.mistaken}
	r.CountError = CountError{Count: j.counts.count, Mean: j.counts.mean(), Max: j.counts.most()}
	return r
}
