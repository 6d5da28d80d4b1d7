package ask

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// forgeable are headers from which services take a client's address.
var forgeable = []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded"}

// rounds are spread over a window, so that a boundary cannot fall into each of them.
const rounds = 3

func forgedRequests(full int64) int64 { return rounds * (full + 2*int64(len(forgeable))) }

func forgedLength(window time.Duration) time.Duration { return window }

// forge lets a client that has just been denied try again under addresses that it makes up. An admission counts only
// between two denials of the client itself, so that it was not time that freed a place.
func (r *runner) forge(ctx context.Context) {
	r.forged = make([]Forged, len(forgeable))
	for i, name := range forgeable {
		r.forged[i] = Forged{Header: name, Fresh: Unknown}
	}
	c := r.crowd.client(len(r.trials))
	begin := r.now()
	for round := range rounds {
		if r.sleep(ctx, begin+int64(round)*r.Limit.Window.Microseconds()/rounds) != nil {
			return
		}
		r.saturate(ctx, c)
		before := r.alone(ctx, c, nil)
		for i, name := range forgeable {
			a := r.alone(ctx, c, forgedHeader(name))
			after := r.alone(ctx, c, nil)
			if before.outcome == denied && after.outcome == denied && a.outcome != failed {
				f := &r.forged[i]
				f.Sent++
				if a.outcome == allowed {
					f.Allowed++
				}
			}
			before = after
		}
	}
	for i := range r.forged {
		f := &r.forged[i]
		switch {
		case f.Allowed < f.Sent:
			f.Fresh = False
		case f.Sent == rounds:
			f.Fresh = True
		}
	}
}

// saturate asks until the client's places are taken.
func (r *runner) saturate(ctx context.Context, c *client) {
	var wg sync.WaitGroup
	for range r.full {
		wg.Go(func() {
			c.slots <- struct{}{}
			r.alone(ctx, c, nil)
			<-c.slots
		})
	}
	wg.Wait()
}

// alone sends one request that belongs to no experiment.
func (r *runner) alone(ctx context.Context, c *client, extra http.Header) answer {
	a := r.send(ctx, c, extra)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.apart = append(r.apart, a)
	return a
}

// forgedHeader names an address of those that are reserved for documentation or benchmarks, another each time.
func forgedHeader(name string) http.Header {
	address := fmt.Sprintf("198.%d.%d.%d", 18+rand.IntN(2), rand.IntN(256), 1+rand.IntN(254))
	if name == "Forwarded" {
		address = "for=" + address
	}
	return http.Header{name: {address}}
}
