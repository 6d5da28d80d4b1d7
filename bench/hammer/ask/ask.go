// Package ask puts a rate limit of any running service to the test, from outside: how many get through at once and in
// the worst window, whether what its answers promise is true, whether a forged header buys a fresh limit, and
// which algorithms are consistent with all that was seen.
//
// When the service decided is not known, only when a request was sent and when its answer came. An algorithm is ruled
// out only if no instants between the two explain the answers; so several may remain, and then the
// answer is that it cannot be told.
package ask

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
)

// ErrUnreachable says that the service answered nothing.
var ErrUnreachable = errors.New("ask: the service cannot be reached")

// The windows that can be told apart from outside, and the largest limit that is asked for.
const (
	MinWindow = 100 * time.Millisecond
	MaxCount  = 1_000
)

// ClientMark stands in a header's value for the number of a client.
const ClientMark = "{n}"

// Config says what to ask, and how much of it.
type Config struct {
	URL    string      // http or https
	Method string      // "" is GET
	Header http.Header // sent with each request; [ClientMark] in a value makes clients of their own
	Limit  weir.Limit  // what the service claims
	Denied []int       // the statuses that deny; none stands for 429 and 503
	// Requests and Time bound the run: Run refuses to start what would exceed them. Zero stands for 10,000 and a minute.
	Requests int64
	Time     time.Duration

	// Transport, if not nil, replaces the network: one for each client.
	Transport func(client int) http.RoundTripper
	// Progress, if not nil, is called before each step with how many of all are done.
	Progress func(done, total int, next string)
}

// Validate returns an error that names the field that is wrong.
func (c *Config) Validate() error {
	u, err := url.Parse(c.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return fmt.Errorf("ask: URL: %q: want one such as http://127.0.0.1:8080/path", c.URL)
	}
	if err := c.Limit.Validate(); err != nil {
		return err
	}
	if c.Limit.Window < MinWindow {
		return fmt.Errorf("ask: limit window: %v: want %v or more, to be seen from outside", c.Limit.Window, MinWindow)
	}
	if c.Limit.Count > MaxCount {
		return fmt.Errorf("ask: limit count: %d: want 1 to %d", c.Limit.Count, MaxCount)
	}
	for _, s := range c.Denied {
		if s < 400 || s > 599 {
			return fmt.Errorf("ask: denied: %d: want statuses from 400 to 599", s)
		}
	}
	if c.Requests < 0 {
		return fmt.Errorf("ask: requests: %d: want 0 or more", c.Requests)
	}
	if c.Time < 0 {
		return fmt.Errorf("ask: time: %v: want 0 or more", c.Time)
	}
	if _, err := http.NewRequest(c.Method, c.URL, http.NoBody); err != nil {
		return fmt.Errorf("ask: method: %q: want one such as GET or POST", c.Method)
	}
	return nil
}

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if len(c.Denied) == 0 {
		c.Denied = []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}
	}
	if c.Requests == 0 {
		c.Requests = 10_000
	}
	if c.Time == 0 {
		c.Time = time.Minute
	}
	if c.Progress == nil {
		c.Progress = func(int, int, string) {}
	}
	return c
}

// marked tells that a header makes clients.
func (c *Config) marked() bool {
	for _, values := range c.Header {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, ClientMark) }) {
			return true
		}
	}
	return false
}

// shown is the URL without what may be secret in it.
func (c *Config) shown() string {
	u, err := url.Parse(c.URL)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Run asks the service. It returns an error if a field of c is wrong, if the run would exceed its bounds, which the
// error names, [ErrUnreachable] if nothing answers, and the context's if it ends. What the service
// answers, failures included, is in the report.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	r, err := newRunner(&c)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	rep := &Report{
		Version: ReportVersion, URL: c.shown(), Limit: bench.NewLimitInfo(c.Limit), Clients: r.crowd.kind,
		ElapsedUS: r.now() - r.began,
	}
	r.report(rep)
	return rep, nil
}
