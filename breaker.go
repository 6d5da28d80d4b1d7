package weir

import (
	"sync/atomic"
	"time"
)

// breaker keeps callers from a store that does not answer. So many failures in a row
// open it; then one caller at a time, after each pause, tries the store, and a success
// closes it. While it is closed a call costs two atomic loads.
type breaker struct {
	failures int32
	pause    time.Duration
	lease    time.Duration        // for how long one who tries keeps others from trying
	now      func() time.Duration // since a fixed instant

	row   atomic.Int32 // failures since the last success
	until atomic.Int64 // when the next caller may try; zero while closed
	cause atomic.Pointer[error]
}

// enter tells whether the caller may ask the store, and whether it is the one who tries.
func (b *breaker) enter() (may, trying bool) {
	until := b.until.Load()
	if until == 0 {
		return true, false
	}
	now := b.now()
	if now < time.Duration(until) {
		return false, false
	}
	mine := b.until.CompareAndSwap(until, b.at(now+b.lease))
	return mine, mine
}

// at is an instant as until holds it.
func (b *breaker) at(t time.Duration) int64 { return max(1, int64(t)) }

// succeeded notes that the store answered.
func (b *breaker) succeeded() {
	if b.row.Load() != 0 {
		b.row.Store(0)
	}
	if b.until.Load() != 0 {
		b.until.Store(0)
	}
}

func (b *breaker) failed(trying bool, err error) {
	b.cause.Store(&err)
	switch {
	case trying:
		b.until.Store(b.at(b.now() + b.pause))
	case b.row.Add(1) >= b.failures:
		b.until.CompareAndSwap(0, b.at(b.now()+b.pause))
	}
}

// left notes that the outcome is unknown: the next caller may try.
func (b *breaker) left(trying bool) {
	if trying {
		b.until.Store(b.at(b.now()))
	}
}

// last returns the failure that opened the breaker or kept it open.
func (b *breaker) last() error {
	if err := b.cause.Load(); err != nil {
		return *err
	}
	return nil
}
