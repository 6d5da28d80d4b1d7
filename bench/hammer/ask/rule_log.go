package ask

// logExplains is explains for the exact log, whatever the order: no window may be sure to hold more than limit,
// and where one was denied limit must be able to lie in the window.
func logExplains(limit, window int64, h history) int {
	for i, g := range h {
		var sure, maybe int64
		for j := i; j >= 0; j-- {
			e := h[j]
			if g.at.hi-e.at.lo < window {
				sure += e.allowed
			}
			if e.at.hi > g.at.lo-window {
				maybe += e.allowed
			}
		}
		if sure > limit || g.denied > 0 && maybe < limit {
			return i
		}
	}
	return -1
}
