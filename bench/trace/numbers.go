package trace

import (
	"math"
	"strings"
	"time"
)

// maxTime is the last microsecond of the year 2200.
const maxTime = 7_289_654_400_000_000 - 1

const (
	ruleTime     = "must be seconds since the Unix epoch, as in 1700000000.25, or RFC 3339, as in 2023-11-14T22:13:20.25Z"
	ruleTimePast = "must not be before 1970"
	ruleTimeFar  = "must not be after the year 2200 (seconds are expected, not milliseconds)"
	ruleCost     = "must be a whole number from 0 to 9223372036854775807"
)

// parseTime reads seconds or RFC 3339 as microseconds; what is finer is cut off. The rule is the one broken, or empty.
func parseTime(s string) (at int64, rule string) {
	if len(s) > 10 && s[4] == '-' && s[7] == '-' {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return 0, ruleTime
		}
		at = t.UnixMicro()
	} else {
		number, negative := strings.CutPrefix(s, "-")
		value, _, ok := decimal(number, 6)
		if !ok {
			return 0, ruleTime
		}
		if negative {
			return 0, ruleTimePast
		}
		at = value
	}
	if at < 0 {
		return 0, ruleTimePast
	}
	if at > maxTime {
		return 0, ruleTimeFar
	}
	return at, ""
}

// parseCost reads a cost; the rule is the one broken, or empty.
func parseCost(s string) (cost int64, rule string) {
	cost, exact, ok := decimal(s, 0)
	if !ok || !exact {
		return 0, ruleCost
	}
	return cost, ""
}

// decimal returns the unsigned decimal number in s times 10^scale, without ever going through a float. Digits beyond
// are cut off, and a number that does not fit becomes MaxInt64: exact is false if that changed anything.
func decimal(s string, scale int) (value int64, exact, ok bool) {
	mantissa, exponent, ok := splitExponent(s)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !ok || len(whole)+len(fraction) == 0 {
		return 0, false, false
	}
	point := len(whole) + exponent + scale // so many digits count
	exact = true
	seen := 0
	push := func(digit int64) {
		if value > (math.MaxInt64-digit)/10 {
			value, exact = math.MaxInt64, false
			return
		}
		value = 10*value + digit
	}
	for _, part := range [2]string{whole, fraction} {
		for i := range len(part) {
			digit := int64(part[i]) - '0'
			if digit < 0 || digit > 9 {
				return 0, false, false
			}
			if seen < point {
				push(digit)
			} else if digit != 0 {
				exact = false
			}
			seen++
		}
	}
	for ; seen < point && value != 0 && exact; seen++ {
		push(0)
	}
	return value, exact, true
}

// splitExponent cuts "12e3" into "12" and 3. Exponents beyond 10^8 are held there.
func splitExponent(s string) (mantissa string, exponent int, ok bool) {
	e := strings.IndexAny(s, "eE")
	if e < 0 {
		return s, 0, true
	}
	digits, negative := strings.CutPrefix(s[e+1:], "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	if digits == "" {
		return "", 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return "", 0, false
		}
		exponent = min(10*exponent+int(digits[i]-'0'), 100_000_000)
	}
	if negative {
		exponent = -exponent
	}
	return s[:e], exponent, true
}

// resolution is the coarsest step that divides all times. Above a second a few events can agree by chance, so there
// ten distinct times have to. An access log's own step is the second.
func resolution(events []Event, accessLog bool) time.Duration {
	steps := []time.Duration{
		time.Hour, time.Minute, 10 * time.Second, time.Second, 100 * time.Millisecond, 10 * time.Millisecond,
		time.Millisecond, 100 * time.Microsecond, 10 * time.Microsecond, time.Microsecond,
	}
	if accessLog || !hasDistinctTimes(events, 10) {
		steps = steps[3:]
	}
	for _, e := range events {
		for e.Time%steps[0].Microseconds() != 0 {
			steps = steps[1:]
		}
	}
	return steps[0]
}

func hasDistinctTimes(events []Event, n int) bool {
	for i := range events {
		if i == 0 || events[i].Time != events[i-1].Time {
			n--
		}
		if n == 0 {
			return true
		}
	}
	return false
}
