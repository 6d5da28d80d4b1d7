package insight

import (
	"cmp"
	"slices"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/trace"
)

// Client is how one key fared. It is locked out from a denied request until that request would have been
// admitted, as Retry-After told; where such times overlap they are one. A request that asks for more than the
// limiter ever admits is denied without locking anybody out.
type Client struct {
	Key           string `json:"key"`
	Requests      int64  `json:"requests"`
	Denied        int64  `json:"denied"`
	FirstDeniedUS int64  `json:"first_denied_us,omitempty"` // microseconds since the Unix epoch
	LastDeniedUS  int64  `json:"last_denied_us,omitempty"`
	LockedOutUS   int64  `json:"locked_out_us,omitempty"` // all times together
	LongestUS     int64  `json:"longest_us,omitempty"`    // the longest of them
}

// Denials is what one limiter denied of a trace.
type Denials struct {
	Clients      int       `json:"clients"`         // denied at least once
	ClientsShare float64   `json:"clients_share"`   // of all clients
	RequestShare float64   `json:"request_share"`   // denied, of all requests
	Never        int64     `json:"never,omitempty"` // requests denied for asking for more than is ever admitted
	LockedOutUS  int64     `json:"locked_out_us"`   // of all clients together; see [Client]
	LongestUS    int64     `json:"longest_us"`      // the longest time that one was locked out
	Hours        [24]int64 `json:"hours"`           // denied requests by hour of the day, UTC
	OverTime     []int64   `json:"over_time"`       // denied requests in each step of the [Span]
}

// Ledger keeps what a limiter's decisions did to each client. It is for one goroutine.
type Ledger struct {
	span    Span
	clients map[string]*account
	denials Denials
	seen    int64
	denied  int64
}

// account is a client and the time it is locked out now.
type account struct {
	Client
	from, until int64 // microseconds since the epoch
}

// NewLedger returns a ledger of a trace with this span.
func NewLedger(span Span) *Ledger {
	return &Ledger{
		span: span, clients: make(map[string]*account),
		denials: Denials{OverTime: make([]int64, len(span.Requests))},
	}
}

// Observe keeps the decision on one event of the trace. The events of a client come in order of time.
func (l *Ledger) Observe(e trace.Event, d weir.Decision) {
	c := l.clients[e.Key]
	if c == nil {
		c = &account{Client: Client{Key: e.Key}}
		l.clients[e.Key] = c
	}
	l.seen++
	c.Requests++
	if d.Allowed {
		return
	}
	l.denied++
	l.denials.Hours[hourOf(e.Time)]++
	l.denials.OverTime[l.span.step(e.Time)]++
	if c.Denied == 0 {
		c.FirstDeniedUS = e.Time
	}
	c.Denied++
	c.LastDeniedUS = e.Time
	if d.RetryAfter == weir.Never {
		l.denials.Never++
		return
	}
	c.lock(e.Time, e.Time+d.RetryAfter.Microseconds())
}

// lock adds a time to those in which the client is locked out. None begins before an earlier one.
func (c *account) lock(from, until int64) {
	if from > c.until {
		c.from, c.until = from, from
	}
	if until > c.until {
		c.LockedOutUS += until - c.until
		c.until = until
	}
	c.LongestUS = max(c.LongestUS, c.until-c.from)
}

// Denials returns what was denied so far.
func (l *Ledger) Denials() Denials {
	d := l.denials
	d.OverTime = slices.Clone(d.OverTime)
	for _, c := range l.clients {
		if c.Denied > 0 {
			d.Clients++
		}
		d.LockedOutUS += c.LockedOutUS
		d.LongestUS = max(d.LongestUS, c.LongestUS)
	}
	d.ClientsShare, d.RequestShare = part(int64(d.Clients), int64(len(l.clients))), part(l.denied, l.seen)
	return d
}

// MostDenied returns up to n clients that were denied, most first.
func (l *Ledger) MostDenied(n int) []Client {
	var denied []Client
	for _, c := range l.clients {
		if c.Denied > 0 {
			denied = append(denied, c.Client)
		}
	}
	slices.SortFunc(denied, func(a, b Client) int {
		return cmp.Or(cmp.Compare(b.Denied, a.Denied), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Key, b.Key))
	})
	return denied[:max(0, min(n, len(denied)))]
}

// part is a share of a whole that may be nothing.
func part(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
