package peers

import "sync"

// perKey makes one limiter for each key, as users of libraries without keys do.
type perKey[T any] struct {
	limiters sync.Map
	create   func() T
}

func (p *perKey[T]) of(key string) T {
	l, ok := p.limiters.Load(key)
	if !ok {
		l, _ = p.limiters.LoadOrStore(key, p.create())
	}
	return l.(T)
}

func (p *perKey[T]) forget(key string) { p.limiters.Delete(key) }

func (p *perKey[T]) close() { p.limiters.Clear() }
