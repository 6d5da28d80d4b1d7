package ask

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How clients are told apart.
const (
	byAddress = "address" // each has a loopback address of its own
	byHeader  = "header"  // each has a value of its own in a header
	onlyOne   = "one"     // they cannot be: all requests are one client's
)

// inFlight is how many requests of one client are under way at once.
const inFlight = 64

// crowd makes clients.
type crowd struct {
	config *Config
	kind   string
	seed   uint32 // so that no client is one of an earlier run

	mu      sync.Mutex
	clients map[int]*client
}

// client sends as one that the service has not met before, unless the crowd has only one.
type client struct {
	number    string // replaces [ClientMark]
	transport http.RoundTripper
	slots     chan struct{}
}

func newCrowd(c *Config) *crowd {
	w := &crowd{config: c, kind: onlyOne, seed: rand.Uint32(), clients: map[int]*client{}}
	switch {
	case c.marked():
		w.kind = byHeader
	case c.Transport != nil:
		w.kind = byAddress
	case w.bindable():
		w.kind = byAddress
	}
	return w
}

// bindable tells that the service is reached from any address of 127.0.0.0/8.
func (w *crowd) bindable() bool {
	u, err := url.Parse(w.config.URL)
	if err != nil || !Loopback(u) {
		return false
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !a.Unmap().Is4() {
		return false
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	d := net.Dialer{LocalAddr: w.address(0), Timeout: time.Second}
	conn, err := d.Dial("tcp4", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	_ = conn.Close() // it has said what there was to say
	return true
}

// address is the client's own in 127.0.0.0/8, never its first or last.
func (w *crowd) address(i int) net.Addr {
	n := (w.seed+uint32(i))%(1<<24-2) + 1
	return &net.TCPAddr{IP: net.IPv4(127, byte(n>>16), byte(n>>8), byte(n))}
}

// client returns the client of that number; every number is the same one where there is only one.
func (w *crowd) client(i int) *client {
	if w.kind == onlyOne {
		i = 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.clients[i]; c != nil {
		return c
	}
	c := &client{number: strconv.FormatUint(uint64(w.seed)+uint64(i), 10), slots: make(chan struct{}, inFlight)}
	if w.config.Transport != nil {
		c.transport = w.config.Transport(i)
	} else {
		c.transport = w.network(i)
	}
	w.clients[i] = c
	return c
}

func (w *crowd) network(i int) http.RoundTripper {
	d := &net.Dialer{Timeout: 5 * time.Second}
	dial := d.DialContext
	if w.kind == byAddress {
		d.LocalAddr = w.address(i)
		dial = func(ctx context.Context, _, address string) (net.Conn, error) {
			return d.DialContext(ctx, "tcp4", address)
		}
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: inFlight, DisableCompression: true,
	}
}

// header is what the client sends.
func (w *crowd) header(c *client) http.Header {
	h := http.Header{}
	for name, values := range w.config.Header {
		for _, v := range values {
			h.Add(name, strings.ReplaceAll(v, ClientMark, c.number))
		}
	}
	return h
}

func (w *crowd) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.clients {
		if t, ok := c.transport.(*http.Transport); ok {
			t.CloseIdleConnections()
		}
	}
}

// Loopback tells that a URL leads to this machine.
func Loopback(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	a, err := netip.ParseAddr(u.Hostname())
	return err == nil && a.Unmap().IsLoopback()
}
