package versus

import (
	"context"
	"sync/atomic"
	"time"
)

// timeline is the time in which a limiter is tried, in microseconds since the Unix epoch.
type timeline interface {
	now() int64
	until(ctx context.Context, t int64) error
}

type realTime struct{}

func (realTime) now() int64 { return time.Now().UnixMicro() }

func (realTime) until(ctx context.Context, t int64) error {
	timer := time.NewTimer(time.Until(time.UnixMicro(t)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// simulatedTime passes when somebody waits.
type simulatedTime struct{ us atomic.Int64 }

func newSimulatedTime() *simulatedTime {
	s := new(simulatedTime)
	s.us.Store(time.Date(2023, 11, 14, 0, 0, 0, 0, time.UTC).UnixMicro())
	return s
}

func (s *simulatedTime) clock() time.Time { return time.UnixMicro(s.us.Load()) }

func (s *simulatedTime) now() int64 { return s.us.Load() }

func (s *simulatedTime) until(ctx context.Context, t int64) error {
	s.us.Store(max(t, s.us.Load()))
	return ctx.Err()
}
