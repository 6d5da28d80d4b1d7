package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"
)

const (
	// openSenders share out the requests of the open loop. Where all of them wait for answers, requests are
	// sent late, and their latency says so.
	openSenders  = 64
	openInterval = 500 * time.Millisecond
)

// openLoop sends requests at a fixed rate for so long, to the keys of a closed loop, whose limit denies
// nothing. After twice that time it gives up, and the requests that are left count as having waited until
// then.
func (l *loop) openLoop(ctx context.Context, rate float64, interval time.Duration) (OpenLoop, error) {
	o := OpenLoop{Rate: rate}
	due := int(rate * interval.Seconds())
	senders := min(openSenders, len(l.keys), due)
	if senders == 0 {
		return o, fmt.Errorf("bench: no request is due within %v at %v per second", interval, rate)
	}
	histograms := make([]*hdrhistogram.Histogram, senders)
	answered, denied := make([]int64, senders), make([]int64, senders)
	group, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	stop := start.Add(2 * interval)
	for s := range senders {
		histograms[s] = hdrhistogram.New(1, slowest, digits)
		group.Go(func() error {
			keys := l.keys[s*len(l.keys)/senders : (s+1)*len(l.keys)/senders]
			for i, turn := s, 0; i < due; i, turn = i+senders, turn+1 {
				intended := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
				if err := sleepUntil(ctx, intended); err != nil {
					return err
				}
				end := stop
				if time.Now().Before(stop) {
					d, err := l.limiter.Take(ctx, keys[turn%len(keys)], 1)
					if err != nil {
						return err
					}
					end = time.Now()
					answered[s]++
					if !d.Allowed {
						denied[s]++
					}
				}
				if err := histograms[s].RecordValue(max(1, min(int64(end.Sub(intended)), slowest))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return o, err
	}
	took := max(time.Since(start), interval)
	var refused int64
	for s := range senders {
		o.Decisions += answered[s]
		refused += denied[s]
		if s > 0 {
			histograms[0].Merge(histograms[s])
		}
	}
	if refused > 0 {
		return OpenLoop{Rate: rate, NA: fmt.Sprintf("%d of %d requests were denied", refused, o.Decisions)}, nil
	}
	o.Achieved = float64(o.Decisions) / took.Seconds()
	us := func(quantile float64) float64 { return float64(histograms[0].ValueAtQuantile(quantile)) / 1000 }
	o.P50US, o.P99US, o.P999US, o.MaxUS = us(50), us(99), us(99.9), us(100)
	return o, nil
}

func sleepUntil(ctx context.Context, at time.Time) error {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
