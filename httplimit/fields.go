package httplimit

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimits/weir"
)

// The fields RateLimit and RateLimit-Policy are those of the IETF draft "RateLimit header
// fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-11): lists of strings with
// parameters, after RFC 9651. A policy is a quota q in a window of w seconds; r units
// are left of it, until t seconds from now. Header maps hold the canonical names.
const (
	fieldLimit  = "Ratelimit"
	fieldPolicy = "Ratelimit-Policy"
	paramLeft   = ";r="
	paramUntil  = ";t="
)

// policy is what a rule advertises.
type policy struct {
	fixed  string // "" where the limit depends on the key
	perKey *weir.PerKey
}

func newPolicy(name string, l weir.Limiter) policy {
	if w, ok := weir.As[*weir.Weir](l); ok {
		return policy{fixed: policyItem(name, w.Limit())}
	}
	p, _ := weir.As[*weir.PerKey](l)
	return policy{perKey: p}
}

// item is the policy for a request, or "" where it is not known.
func (h *hit) item() string {
	if p := h.rule.policy; p.fixed != "" || p.perKey == nil {
		return p.fixed
	}
	w, err := h.rule.policy.perKey.For(h.key)
	if err != nil {
		return ""
	}
	return policyItem(h.rule.Name, w.Limit())
}

// policyItem rounds the window up to whole seconds, for the field knows no others: who
// paces itself by it stays within the limit.
func policyItem(name string, l weir.Limit) string {
	return `"` + name + `";q=` + strconv.FormatInt(l.Count, 10) + ";w=" + strconv.FormatInt(seconds(l.Window), 10)
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int64 {
	n := int64(d / time.Second)
	if d%time.Second > 0 {
		n++
	}
	return n
}

// limitItem says what is left. On a denial t is when to try again, so that Retry-After
// never points to before it.
func limitItem(name string, d weir.Decision) string {
	until := d.ResetAfter
	if !d.Allowed && d.RetryAfter != weir.Never {
		until = d.RetryAfter
	}
	var buf [128]byte
	b := append(buf[:0], '"')
	b = append(b, name...)
	b = append(b, '"')
	b = append(b, paramLeft...)
	b = strconv.AppendInt(b, d.Remaining, 10)
	b = append(b, paramUntil...)
	b = strconv.AppendInt(b, seconds(until), 10)
	return string(b)
}

// setFields tells a client where it stands: all policies that apply, and what is left of
// the strictest. Each field comes once, also where a middleware further out set it.
func setFields(h http.Header, hits []hit, each []weir.Decision, all weir.Decision, x bool) {
	strictest := -1
	policies := ""
	for i, d := range each {
		if d.Limit == 0 {
			continue // degraded, and nothing known
		}
		if item := hits[i].item(); policies == "" {
			policies = item
		} else if item != "" {
			policies += ", " + item
		}
		if strictest < 0 || stricter(d, each[strictest]) {
			strictest = i
		}
	}
	if !all.Allowed && all.RetryAfter != weir.Never {
		h.Set("Retry-After", strconv.FormatInt(max(1, seconds(all.RetryAfter)), 10))
	}
	if strictest < 0 {
		return
	}
	d := each[strictest]
	outer := h[fieldLimit]
	if len(outer) > 0 {
		policies = merge(h[fieldPolicy], policies)
		if all.Allowed && left(outer) <= d.Remaining {
			h[fieldPolicy] = []string{policies}
			return
		}
	}
	values := &[2]string{limitItem(hits[strictest].rule.Name, d), policies}
	h[fieldLimit] = values[0:1:1]
	if policies != "" {
		h[fieldPolicy] = values[1:2:2]
	}
	if x {
		h.Set("X-RateLimit-Limit", strconv.FormatInt(d.Limit, 10))
		h.Set("X-RateLimit-Remaining", strconv.FormatInt(d.Remaining, 10))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(seconds(d.ResetAfter), 10))
	}
}

// stricter tells whether a client has to heed a rather than b.
func stricter(a, b weir.Decision) bool {
	switch {
	case a.Allowed != b.Allowed:
		return !a.Allowed
	case a.RetryAfter != b.RetryAfter:
		return a.RetryAfter > b.RetryAfter
	case a.Remaining != b.Remaining:
		return a.Remaining < b.Remaining
	default:
		return a.ResetAfter > b.ResetAfter
	}
}

// merge adds policies to those that are there, in one line.
func merge(there []string, policies string) string {
	if len(there) == 0 {
		return policies
	}
	all := strings.Join(there, ", ")
	if policies == "" || all == policies {
		return all
	}
	return all + ", " + policies
}

// left reads what remains from a field that is there; what it cannot read is no bound.
func left(field []string) int64 {
	_, rest, _ := strings.Cut(strings.Join(field, ", "), paramLeft)
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || '9' < c })
	if end >= 0 {
		rest = rest[:end]
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}
