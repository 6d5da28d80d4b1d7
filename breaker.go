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

// enter tells whether the caller may ask the store. One who tries an open breaker gets the
// end of its lease, others zero: whoever outstays it has no say, for others tried since.
func (b *breaker) enter() (may bool, lease int64) {
	until := b.until.Load()
	if until == 0 {
		return true, 0
	}
	now := b.now()
	if now < time.Duration(until) {
		return false, 0
	}
	lease = b.at(now + b.lease)
	if !b.until.CompareAndSwap(until, lease) {
		return false, 0
	}
	return true, lease
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

func (b *breaker) failed(lease int64, err error) {
	b.cause.Store(&err)
	switch {
	case lease != 0:
		b.until.CompareAndSwap(lease, b.at(b.now()+b.pause))
	case b.row.Add(1) >= b.failures:
		b.until.CompareAndSwap(0, b.at(b.now()+b.pause))
	}
}

// left notes that the outcome is unknown: the next caller may try.
func (b *breaker) left(lease int64) {
	if lease != 0 {
		b.until.CompareAndSwap(lease, b.at(b.now()))
	}
}

// last returns the failure that opened the breaker or kept it open.
func (b *breaker) last() error {
	if err := b.cause.Load(); err != nil {
		return *err
	}
	return nil
}
