package weir

import (
	"context"
	"sync"
	"time"
)

// deadline is what [context.WithTimeout] makes, but for its timer, which most decisions in
// process never need: only who asks for Done makes it, so that one who does not ask costs
// one allocation and no timer. It stays safe to use after its end, by any goroutine.
type deadline struct {
	parent context.Context
	at     time.Time

	mu    sync.Mutex
	armed context.Context // what all is asked once it is there, or nil
	stop  context.CancelFunc
	over  bool
}

func newDeadline(parent context.Context, timeout time.Duration) *deadline {
	return &deadline{parent: parent, at: time.Now().Add(timeout)}
}

// Deadline implements [context.Context].
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.parent.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done implements [context.Context].
func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.arm().Done()
}

// Err implements [context.Context]. Where nobody waits for the end, who looks finds it;
// what it found once stays.
func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed == nil && !d.over && d.parent.Err() == nil && time.Now().Before(d.at) {
		return nil
	}
	return d.arm().Err()
}

// Value implements [context.Context]. Contexts made of an armed one find there whom to
// hang on to; otherwise each would need a goroutine.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	from := d.armed
	d.mu.Unlock()
	if from == nil {
		from = d.parent
	}
	return from.Value(key)
}

// arm makes the context with the timer. The caller holds the lock.
func (d *deadline) arm() context.Context {
	switch {
	case d.armed != nil:
	case d.over:
		d.armed, d.stop = context.WithCancel(context.WithoutCancel(d.parent))
		d.stop()
	default:
		d.armed, d.stop = context.WithDeadline(d.parent, d.at)
	}
	return d.armed
}

// end cancels, as the function that [context.WithTimeout] returns does.
func (d *deadline) end() {
	d.mu.Lock()
	d.over = true
	stop := d.stop
	d.mu.Unlock()
	if stop != nil {
		stop()
	}
}
