package insight

import (
	"cmp"
	"context"
	"slices"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/bench/trace"
)

// Traffic is the requests of a trace by client, ready to be decided many times. It is not changed by that, so that
// several goroutines may decide at once.
type Traffic struct {
	clients  []requester // those with most requests first: they are denied first
	requests int64
	single   bool // no request counts for more than one
}

type requester struct {
	key  string
	asks []ask
}

type ask struct{ time, cost int64 }

// NewTraffic groups events, which are in order of time, by client.
func NewTraffic(events []trace.Event) *Traffic {
	t := &Traffic{requests: int64(len(events)), single: true}
	at := make(map[string]int)
	for _, e := range events {
		i, known := at[e.Key]
		if !known {
			i = len(t.clients)
			at[e.Key] = i
			t.clients = append(t.clients, requester{key: e.Key})
		}
		t.clients[i].asks = append(t.clients[i].asks, ask{e.Time, e.Cost})
		t.single = t.single && e.Cost <= 1
	}
	slices.SortStableFunc(t.clients, func(a, b requester) int { return cmp.Compare(len(b.asks), len(a.asks)) })
	return t
}

// Outcome is what an algorithm under one limit makes of the traffic. Where a limit has layers, MaxInWindow and
// FalseDenied are by the first.
type Outcome struct {
	Algorithm     string  `json:"algorithm"` // options included
	Limit         string  `json:"limit"`
	DeniedClients int     `json:"denied_clients"` // denied at least once
	ClientsShare  float64 `json:"clients_share"`  // of all clients
	Denied        int64   `json:"denied"`         // requests
	RequestShare  float64 `json:"request_share"`  // of all requests
	MaxInWindow   int64   `json:"max_in_window"`
	FalseDenied   int64   `json:"false_denied"` // although the limiter's own history had room
	NA            string  `json:"na,omitempty"` // why there is no figure: then nothing else is set
}

// Decide decides all requests by an algorithm, in this process: each client from a state that was never used, each
// request at its own time. What the algorithm cannot take, such as the limit or a request's cost, is told in
// [Outcome.NA]; the error is that of ctx.
func (t *Traffic) Decide(ctx context.Context, a weir.Algorithm, limit weir.Limit) (Outcome, error) {
	o := Outcome{Algorithm: a.String(), Limit: limit.String()}
	m, err := newMachine(a, limit)
	if err != nil {
		o.NA = reason(err)
		return o, nil
	}
	judge := oracle.NewJudge(limit.Count, limit.Window.Microseconds())
	for _, c := range t.clients {
		if ctx.Err() != nil {
			return o, context.Cause(ctx)
		}
		var denied int64
		m.fresh()
		for _, ask := range c.asks {
			reply, err := m.take(ask)
			if err != nil {
				return Outcome{Algorithm: o.Algorithm, Limit: o.Limit, NA: reason(err)}, nil
			}
			judge.Observe(c.key, oracle.Observation{
				Time: ask.time, Cost: ask.cost, Allowed: reply.Allowed, RetryAfter: reply.RetryAfter, Remaining: oracle.Never,
			})
			if !reply.Allowed {
				denied++
			}
		}
		if o.Denied += denied; denied > 0 {
			o.DeniedClients++
		}
	}
	o.ClientsShare, o.RequestShare = part(int64(o.DeniedClients), int64(len(t.clients))), part(o.Denied, t.requests)
	report := judge.Report()
	o.MaxInWindow, o.FalseDenied = report.MaxInWindow, report.FalseDenied
	return o, nil
}
