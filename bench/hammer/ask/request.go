package ask

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"
)

// patience is how long an answer may take, and longestBody how much of it is read so that the connection can be used again.
const (
	patience    = 10 * time.Second
	longestBody = 64 << 10
)

// now is in microseconds since the run's origin, by the clock that does not step.
func (r *runner) now() int64 { return r.since(time.Now()) }

func (r *runner) since(t time.Time) int64 { return r.offset + t.Sub(r.base).Microseconds() }

// send asks once. A connection that is still to be opened does not widen the answer's interval.
func (r *runner) send(ctx context.Context, c *client, extra http.Header) answer {
	a := answer{wait: untold, remaining: untold}
	if r.sent.Add(1) > r.Requests {
		r.sent.Add(-1)
		return a.fail(r.now(), fmt.Errorf("ask: requests: all %d are spent", r.Requests))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var connected atomic.Int64
	connected.Store(r.now())
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(r.now()) },
	})
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, http.NoBody)
	if err != nil {
		return a.fail(r.now(), err)
	}
	req.Header = r.crowd.header(c)
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	for name, values := range extra {
		req.Header[name] = values
	}
	resp, err := c.transport.RoundTrip(req)
	a.at = span{connected.Load(), r.now()}
	if err != nil {
		return a.fail(a.at.lo, err)
	}
	_, _ = io.CopyN(io.Discard, resp.Body, longestBody) // the status was the answer
	_ = resp.Body.Close()
	return r.read(a, resp)
}

// read takes from an answer what it says of the limit.
func (r *runner) read(a answer, resp *http.Response) answer {
	var field string
	if a.remaining, field = remaining(resp.Header); field != "" {
		r.field.Store(&field)
	}
	switch {
	case slices.Contains(r.Denied, resp.StatusCode):
		a.outcome = denied
		a.wait = retryAfter(resp.Header, time.Now())
	case resp.StatusCode >= 500:
		return a.fail(a.at.lo, fmt.Errorf("ask: status %d", resp.StatusCode))
	default:
		a.outcome = allowed
	}
	return a
}

func (a answer) fail(from int64, err error) answer {
	a.outcome, a.err = failed, err
	a.at = span{from, max(from, a.at.hi)}
	return a
}
