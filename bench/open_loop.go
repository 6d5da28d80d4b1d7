package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"
)

const (
	// openSenders take the requests as they are due. Where all of them wait for answers, requests are sent
	// late, and their latency says so.
	openSenders  = 64
	openInterval = 500 * time.Millisecond
)

// sender is one of those who send the requests of an open loop.
type sender struct {
	latency          *hdrhistogram.Histogram // nanoseconds from when a request was due
	answered, denied int64
}

// openLoop sends requests at a fixed rate for so long, to the keys of a closed loop, whose limit denies
// nothing. After twice that time it gives up, and the requests that are left count as having waited until
// then.
func (l *loop) openLoop(ctx context.Context, rate float64, interval time.Duration) (OpenLoop, error) {
	due := max(1, int(rate*interval.Seconds()))
	senders := make([]*sender, max(1, min(openSenders, len(l.keys)/2)))
	requests := make(chan int, due)
	group, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	at := func(i int) time.Time { return start.Add(time.Duration(float64(i) / rate * float64(time.Second))) }
	for s := range senders {
		senders[s] = &sender{latency: hdrhistogram.New(1, slowest, digits)}
		group.Go(func() error {
			for i := range requests {
				if err := senders[s].send(ctx, l, l.keys[i%len(l.keys)], at(i), start.Add(2*interval)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(requests)
		punctual()
		for i := range due {
			sleepUntil(at(i))
			if err := ctx.Err(); err != nil {
				return err
			}
			requests <- i // there is room for all
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return OpenLoop{}, err
	}
	return openResult(rate, senders, max(time.Since(start), interval)), nil
}

// send sends a request that was due at a time, unless the loop has given up.
func (s *sender) send(ctx context.Context, l *loop, key string, due, stop time.Time) error {
	end := stop
	if time.Now().Before(stop) {
		d, err := l.limiter.Take(ctx, key, 1)
		if err != nil {
			return err
		}
		end = time.Now()
		s.answered++
		if !d.Allowed {
			s.denied++
		}
	}
	return s.latency.RecordValue(max(1, min(int64(end.Sub(due)), slowest)))
}

func openResult(rate float64, senders []*sender, took time.Duration) OpenLoop {
	all := hdrhistogram.New(1, slowest, digits)
	var answered, denied int64
	for _, s := range senders {
		answered += s.answered
		denied += s.denied
		all.Merge(s.latency)
	}
	if denied > 0 {
		return OpenLoop{Rate: rate, NA: fmt.Sprintf("%d of %d requests were denied", denied, answered)}
	}
	us := func(quantile float64) float64 { return float64(all.ValueAtQuantile(quantile)) / 1000 }
	return OpenLoop{
		Rate: rate, Achieved: float64(answered) / took.Seconds(), Decisions: answered,
		P50US: us(50), P99US: us(99), P999US: us(99.9), MaxUS: us(100),
	}
}
