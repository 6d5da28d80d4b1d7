package ask

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads RFC 9110's Retry-After, in seconds or as a date, as microseconds.
func retryAfter(h http.Header, now time.Time) int64 {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return untold
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if !(s >= 0 && s < 1e9) {
			return untold
		}
		return int64(s * 1e6)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return untold
	}
	return max(0, at.Sub(now).Microseconds())
}

// The fields that tell what is left, the most specific first. RateLimit is the IETF draft's, in both of its
// forms: "name";r=9;t=1 and limit=10, remaining=9, reset=1.
var remainingFields = []string{"RateLimit", "RateLimit-Remaining", "X-RateLimit-Remaining", "X-Rate-Limit-Remaining"}

// remaining reads what an answer says is left, the least where it names several policies, and the field that says it.
func remaining(h http.Header) (int64, string) {
	for _, name := range remainingFields {
		least := untold
		for _, part := range strings.FieldsFunc(strings.Join(h.Values(name), ","), func(c rune) bool { return c == ',' || c == ';' }) {
			part = strings.TrimSpace(part)
			if name == "RateLimit" {
				value, ok := strings.CutPrefix(part, "r=")
				if !ok {
					value, ok = strings.CutPrefix(part, "remaining=")
				}
				if !ok {
					continue
				}
				part = value
			}
			if n, err := strconv.ParseInt(part, 10, 64); err == nil && n >= 0 && (least == untold || n < least) {
				least = n
			}
		}
		if least != untold {
			return least, name
		}
	}
	return untold, ""
}
