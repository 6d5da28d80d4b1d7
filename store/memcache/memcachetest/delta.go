package memcachetest

import "strconv"

// largestNumeric is the size above which memcached keeps an item in pieces, which it does not count with.
const largestNumeric = 512 << 10

const outcomeNonNumeric outcome = "CLIENT_ERROR cannot increment or decrement non-numeric value"

// add adds to, or takes from, an item's decimal value. Upward it wraps at 2^64, downward it stops at zero. The item keeps flags
// and expiry and gets a new unique.
func (e *engine) add(key string, delta uint64, down bool) (uint64, outcome) {
	now := e.tick()
	e.mu.Lock()
	defer e.mu.Unlock()
	hits, misses := &e.counters.IncrHits, &e.counters.IncrMisses
	if down {
		hits, misses = &e.counters.DecrHits, &e.counters.DecrMisses
	}
	it := e.lookup(key, now)
	if it == nil {
		*misses++
		return 0, outcomeNotFound
	}
	n, ok := parseUint(it.value)
	if !ok || it.size() > largestNumeric {
		return 0, outcomeNonNumeric
	}
	*hits++
	if down {
		n -= min(n, delta)
	} else {
		n += delta
	}

	digits := strconv.AppendUint(nil, n, 10)
	if len(digits) > len(it.value) {
		e.link(&item{key: it.key, value: digits, flags: it.flags, expires: it.expires}, now)
		return n, outcomeStored
	}
	// A value never gets shorter: memcached overwrites it in place and fills up with blanks.
	for len(digits) < len(it.value) {
		digits = append(digits, ' ')
	}
	it.value = digits
	it.unique = e.nextUnique()
	e.use(it)
	return n, outcomeStored
}
