package httplimit

import (
	"net/http"
	"strconv"
	"strings"
)

// Key tells for whom a request counts. ok is false where the request has no such thing;
// the rule then does not count it. Long keys are hashed before they are stored.
type Key func(r *http.Request) (key string, ok bool)

// Everyone counts all requests together.
func Everyone(*http.Request) (string, bool) { return "", true }

// Header counts by the value of a header. A request without it, or with an empty one, has no key:
// where that must not be a way around the limit, say [FirstOf](Header(name), address). Who
// may send any value has as many budgets as it invents: put the middleware behind what
// checks the value, or add a rule by address.
func Header(name string) Key {
	return func(r *http.Request) (string, bool) {
		v := r.Header.Get(name)
		return v, v != ""
	}
}

// Cookie counts by the value of a cookie. As with [Header], a request without it has no key.
func Cookie(name string) Key {
	return func(r *http.Request) (string, bool) {
		c, err := r.Cookie(name)
		if err != nil || c.Value == "" {
			return "", false
		}
		return c.Value, true
	}
}

// All counts by several things at once, such as an account and a path. A request that
// lacks one of them has no key. Parts are joined with their lengths, so that different
// parts never make the same key.
func All(keys ...Key) Key {
	return func(r *http.Request) (string, bool) {
		var b strings.Builder
		for _, k := range keys {
			part, ok := k(r)
			if !ok {
				return "", false
			}
			b.WriteString(strconv.Itoa(len(part)))
			b.WriteByte(':')
			b.WriteString(part)
		}
		return b.String(), true
	}
}

// FirstOf counts by the first of several things that a request has, such as an account
// and otherwise its address. What came from one never meets what came from another.
func FirstOf(keys ...Key) Key {
	return func(r *http.Request) (string, bool) {
		for i, k := range keys {
			if key, ok := k(r); ok {
				return strconv.Itoa(i) + ":" + key, true
			}
		}
		return "", false
	}
}
