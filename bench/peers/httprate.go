package peers

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/httprate"
)

var chiHTTPRate = Entry{
	Name: "httprate", Module: "github.com/go-chi/httprate", Algorithm: "two weighted windows",
	Store: Memory, Cannot: []string{CannotReset, CannotClock, CannotSeparate},
	open: func(c Config) (Peer, error) {
		l := httprate.NewRateLimiter(int(c.Limit.Count), c.Limit.Window,
			httprate.WithResponseHeaders(httprate.ResponseHeaders{RetryAfter: retryAfter}))
		return &middleware{limiter: l, limit: c.Limit.Count, request: new(http.Request)}, nil
	},
}

const retryAfter = "Retry-After"

// middleware asks the limiter as its handler does. Of the headers only Retry-After is switched on, which
// comes with a denial alone: an admission is then as quick as the peer can be.
type middleware struct {
	limiter *httprate.RateLimiter
	limit   int64
	request *http.Request // has nothing in it, and is never written
}

func (m *middleware) Take(_ context.Context, key string, n int64) (Answer, error) {
	request := m.request
	switch n {
	case 0:
		_, rate, err := m.limiter.Status(key)
		return Answer{Allowed: true, Remaining: max(0, m.limit-int64(math.Round(rate)))}, err
	case 1:
	default:
		request = request.WithContext(httprate.WithIncrement(context.Background(), int(n)))
	}
	var header headers
	if !m.limiter.OnLimit(&header, request, key) {
		return Answer{Allowed: true, Remaining: Unknown}, nil
	}
	seconds, err := strconv.ParseInt(header.Header().Get(retryAfter), 10, 64)
	return Answer{Remaining: Unknown, RetryAfter: time.Duration(seconds) * time.Second}, err
}

func (m *middleware) Reset(context.Context, string) error { return unsupported(CannotReset) }

func (m *middleware) Close() error { return nil }

// headers is a response of which only the headers are wanted, made when the first is set.
type headers struct{ header http.Header }

func (h *headers) Header() http.Header {
	if h.header == nil {
		h.header = http.Header{}
	}
	return h.header
}

func (*headers) Write(b []byte) (int, error) { return len(b), nil }

func (*headers) WriteHeader(int) {}
