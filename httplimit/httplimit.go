// Package httplimit limits requests to a net/http server.
//
//	limit, err := httplimit.New(nil, httplimit.Rule{Name: "api", Limiter: limiter})
//	...
//	http.ListenAndServe(":8080", limit(handler))
//
// A request that a rule denies is answered with 429, Retry-After and a problem document;
// every request that is counted gets the RateLimit and RateLimit-Policy fields. A
// request whose limiter cannot answer is answered with 503: wrap the limiter with
// [weir.FailOpen], [weir.FailClosed] or [weir.FallBack] to say what happens then and to
// bound how long it takes. A request whose client has left while it was decided is
// answered, for logs and metrics, with [StatusClientLeft].
//
// Without being told of proxies nothing that a client can write into a header is
// believed; see [NewAddresses].
package httplimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/weirlimits/weir"
)

// Rule is one limit: whom it counts, and how many it admits.
type Rule struct {
	// Name begins the rule's keys and names its policy to clients: 1 to 64 letters,
	// digits, "-", "_" and ".", and no other rule's of the middleware.
	Name string
	// Match tells which requests the rule is about; nil: all.
	Match func(*http.Request) bool
	// Key tells for whom a request counts; nil: its client's address, believing no
	// header and taking an IPv6 network of 64 bits for one client.
	Key Key
	// Limiter decides. The keys that it sees are those of [Rule.KeyOf]; so does the
	// function of a [weir.PerKey].
	Limiter weir.Limiter
	// Cost is what a request takes; nil: 1. Zero only looks.
	Cost func(*http.Request) int64
}

// Options are the properties of a middleware that all its rules share.
type Options struct {
	// Safe requests pass all rules, and none counts them.
	Safe []func(*http.Request) bool
	// Block refuses requests with 403, unless they are safe.
	Block []func(*http.Request) bool
	// XRateLimit adds X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset,
	// the latter in seconds from now.
	XRateLimit bool

	// Denied answers denied requests in place of a problem document. The fields,
	// Retry-After among them, are set already, the status is not written.
	Denied func(http.ResponseWriter, *http.Request, Denial)
	// Failed answers requests on which no decision could be had in place of a problem document
	// with 503. Retry-After is set already.
	Failed func(http.ResponseWriter, *http.Request, error)
	// Blocked answers blocked requests in place of a problem document with 403.
	Blocked http.Handler
}

// Denial is what a denied request is told.
type Denial struct {
	// Rules are the names of those that denied it.
	Rules []string
	// Decision is all rules' together: its RetryAfter is when all would admit.
	Decision weir.Decision
}

// New returns a middleware. All rules that match a request decide it together: it is
// admitted where all admit it, and otherwise counts in none; see [weir.TakeAll] for what
// that promises. A nil opts means the defaults.
//
// It returns a [weir.FieldError] for a rule without a limiter or with a wrong name, and,
// where there are several rules, for a limiter that cannot give back.
func New(opts *Options, rules ...Rule) (func(http.Handler) http.Handler, error) {
	m := &middleware{}
	if opts != nil {
		m.opts = *opts
	}
	if m.opts.Denied == nil {
		m.opts.Denied = writeDenied
	}
	if m.opts.Failed == nil {
		m.opts.Failed = writeFailed
	}
	if m.opts.Blocked == nil {
		m.opts.Blocked = http.HandlerFunc(writeBlocked)
	}
	names := map[string]bool{}
	for _, r := range rules {
		a, err := newApplied(r, len(rules) > 1)
		if err != nil {
			return nil, err
		}
		if names[r.Name] {
			return nil, &weir.FieldError{Field: "rule name", Value: r.Name, Want: "a name that no other rule has"}
		}
		names[r.Name] = true
		m.rules = append(m.rules, a)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if m.admit(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}, nil
}

type middleware struct {
	opts  Options
	rules []*applied
}

// applied is a rule at work.
type applied struct {
	Rule
	refunder weir.Refunder
	policy   policy
}

func newApplied(r Rule, several bool) (*applied, error) {
	if !validName(r.Name) {
		return nil, &weir.FieldError{
			Field: "rule name", Value: strconv.Quote(r.Name), Want: `1 to 64 letters, digits, "-", "_" and "."`,
		}
	}
	if r.Limiter == nil {
		return nil, &weir.FieldError{Field: "rule " + r.Name + ": limiter", Value: "nil", Want: "a limiter"}
	}
	refunder, ok := r.Limiter.(weir.Refunder)
	if w, plain := weir.As[*weir.Weir](r.Limiter); plain {
		ok = ok && w.Plan().Refunds
	}
	if several && !ok {
		return nil, &weir.FieldError{
			Field: "rule " + r.Name + ": limiter", Value: fmt.Sprintf("%T", r.Limiter),
			Want: "one that can give back, since several rules are decided all or nothing",
		}
	}
	if r.Key == nil {
		r.Key = direct.Key
	}
	return &applied{Rule: r, refunder: refunder, policy: newPolicy(r.Name, r.Limiter)}, nil
}

func validName(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || '9' < c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}

// KeyOf returns the key under which the rule counts a request: for a Reset or a Refund
// of its limiter. It is the rule's name, a colon and what [Rule.Key] tells; ok is false
// where that tells none, so that the rule does not count the request.
func (r Rule) KeyOf(req *http.Request) (key string, ok bool) {
	of := r.Key
	if of == nil {
		of = direct.Key
	}
	key, ok = of(req)
	return r.Name + ":" + key, ok
}

// hit is a rule that a request is subject to.
type hit struct {
	rule *applied
	key  string
	cost int64
}

// admit decides a request, and answers it where it is not admitted.
func (m *middleware) admit(w http.ResponseWriter, r *http.Request) bool {
	if anyOf(m.opts.Safe, r) {
		return true
	}
	if anyOf(m.opts.Block, r) {
		m.opts.Blocked.ServeHTTP(w, r)
		return false
	}
	var few [4]hit
	hits := few[:0]
	for _, rule := range m.rules {
		if rule.Match != nil && !rule.Match(r) {
			continue
		}
		key, ok := rule.Key(r)
		if !ok {
			continue
		}
		h := hit{rule, rule.Name + ":" + key, 1}
		if rule.Cost != nil {
			h.cost = rule.Cost(r)
		}
		hits = append(hits, h)
	}
	if len(hits) == 0 {
		return true
	}
	var one [1]weir.Decision
	all, each, err := take(r.Context(), hits, one[:0])
	if err != nil && each == nil {
		m.fail(w, r, err)
		return false
	}
	setFields(w.Header(), hits, each, all, m.opts.XRateLimit)
	if all.Allowed {
		return true
	}
	denial := Denial{Decision: all}
	for i, d := range each {
		if !d.Allowed {
			denial.Rules = append(denial.Rules, hits[i].rule.Name)
		}
	}
	m.opts.Denied(w, r, denial)
	return false
}

// take decides the hits together. With an error and decisions it is a denial that could
// not give back all.
func take(ctx context.Context, hits []hit, each []weir.Decision) (weir.Decision, []weir.Decision, error) {
	if len(hits) == 1 {
		d, err := hits[0].rule.Limiter.Take(ctx, hits[0].key, hits[0].cost)
		if err != nil {
			return d, nil, err
		}
		return d, append(each, d), nil
	}
	charges := make([]weir.Charge, len(hits))
	for i, h := range hits {
		charges[i] = weir.Charge{Limiter: h.rule.refunder, Key: h.key, Cost: h.cost}
	}
	return weir.TakeEach(ctx, charges...)
}

// fail answers a request on which there is no decision.
func (m *middleware) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		w.WriteHeader(StatusClientLeft)
		return
	}
	w.Header().Set("Retry-After", "1")
	m.opts.Failed(w, r, err)
}

func anyOf(matches []func(*http.Request) bool, r *http.Request) bool {
	for _, match := range matches {
		if match(r) {
			return true
		}
	}
	return false
}
