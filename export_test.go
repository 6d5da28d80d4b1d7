package weir

// ReadyLimits tells how many limits p keeps ready.
func ReadyLimits(p *PerKey) int { return len(p.ready) }

// CachedDenials tells how many denials c keeps, and how long the longest name is.
func CachedDenials(c *DenialCache) (keys, longest int) {
	for i := range c.shards {
		for name := range c.shards[i].keys {
			keys++
			longest = max(longest, len(name))
		}
	}
	return keys, longest
}

// CachedNames returns under which names c keeps denials.
func CachedNames(c *DenialCache) (names []string) {
	for i := range c.shards {
		for name := range c.shards[i].keys {
			names = append(names, name)
		}
	}
	return names
}
