package ask

// gcra admits burst at once and one more each window/limit: also a token bucket and a leaky bucket. Its state is when the bucket is empty
// again, in 1/limit of a microsecond, so that a request is worth exactly one window of them.
type gcra struct{ limit, window, burst int64 }

func (gcra) idle() span { return span{never, never} }

func (g gcra) admit(s span, at span) []span {
	s.hi = min(s.hi, at.hi*g.limit+(g.burst-1)*g.window)
	if s.lo > s.hi {
		return nil
	}
	return []span{{max(s.lo, at.lo*g.limit) + g.window, max(s.hi, at.hi*g.limit) + g.window}}
}

func (g gcra) deny(s span, at span) []span {
	s.lo = max(s.lo, at.lo*g.limit+(g.burst-1)*g.window+1)
	if s.lo > s.hi {
		return nil
	}
	return []span{s}
}
