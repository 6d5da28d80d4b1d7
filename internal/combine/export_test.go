package combine

// Waiting returns how many callers wait in line for key.
func (l *Lines[A]) Waiting(key string) int {
	sh := l.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if ln := sh.lines[key]; ln != nil {
		return len(ln.waiting)
	}
	return 0
}

// Busy returns how many keys are being served.
func (l *Lines[A]) Busy() (n int) {
	for i := range l.shards {
		l.shards[i].mu.Lock()
		n += len(l.shards[i].lines)
		l.shards[i].mu.Unlock()
	}
	return n
}
