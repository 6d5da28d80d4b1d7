package weir

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The bounds of what a limit may say.
const (
	MaxCount  = 1_000_000_000
	MinWindow = time.Millisecond
	MaxWindow = 3650 * 24 * time.Hour // ten years
)

// Limit is how many requests are allowed in how long.
type Limit struct {
	Count  int64         // L, 1 to [MaxCount]
	Window time.Duration // W, [MinWindow] to [MaxWindow], whole microseconds
}

// Validate returns a [FieldError] that names the field that is out of bounds.
func (l Limit) Validate() error {
	if l.Count < 1 || l.Count > MaxCount {
		return &FieldError{Field: "limit count", Value: strconv.FormatInt(l.Count, 10), Want: "1 to 1000000000"}
	}
	if l.Window < MinWindow || l.Window > MaxWindow {
		return &FieldError{Field: "limit window", Value: l.Window.String(), Want: "1ms to 3650d (10 years)"}
	}
	if l.Window%time.Microsecond != 0 {
		return &FieldError{Field: "limit window", Value: l.Window.String(), Want: "whole microseconds"}
	}
	return nil
}

// String returns the limit as [ParseLimit] reads it: "100/1m".
func (l Limit) String() string {
	return strconv.FormatInt(l.Count, 10) + "/" + formatWindow(l.Window)
}

var windowUnits = []struct {
	size  time.Duration
	names []string // the first is printed
}{
	{24 * time.Hour, []string{"d", "day", "days"}},
	{time.Hour, []string{"h", "hour", "hours"}},
	{time.Minute, []string{"m", "min", "minute", "minutes"}},
	{time.Second, []string{"s", "sec", "second", "seconds"}},
	{time.Millisecond, []string{"ms"}},
	{time.Microsecond, []string{"us"}},
}

func formatWindow(w time.Duration) string {
	for _, u := range windowUnits {
		if w > 0 && w%u.size == 0 {
			return strconv.FormatInt(int64(w/u.size), 10) + u.names[0]
		}
	}
	return w.String()
}

// ParseLimit reads a limit such as "10/1s", "100/min", "5/500ms", "1000/30d" or
// "60/1m30s" and validates it.
func ParseLimit(s string) (Limit, error) {
	const want = `COUNT/WINDOW, such as "10/1s", "100/min" or "1000/30d"`
	count, window, ok := strings.Cut(strings.TrimSpace(s), "/")
	if !ok {
		return Limit{}, &FieldError{Field: "limit", Value: strconv.Quote(s), Want: want}
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		return Limit{}, &FieldError{Field: "limit count", Value: strconv.Quote(count), Want: "a whole number, 1 to 1000000000"}
	}
	w, err := parseWindow(window)
	if err != nil {
		return Limit{}, &FieldError{
			Field: "limit window", Value: strconv.Quote(window),
			Want: `1ms to 3650d (10 years), such as "500ms", "1s", "min", "1h" or "30d"`,
		}
	}
	l := Limit{Count: n, Window: w}
	return l, l.Validate()
}

// ParseLimits reads one limit or several that are joined by plus signs, the layers of a
// cage: "100/1m+5/1s".
func ParseLimits(s string) ([]Limit, error) {
	var limits []Limit
	for part := range strings.SplitSeq(s, "+") {
		l, err := ParseLimit(part)
		if err != nil {
			return nil, err
		}
		limits = append(limits, l)
	}
	return limits, nil
}

// parseWindow accepts a bare unit ("min"), a whole number and a unit ("30d"), and
// what [time.ParseDuration] accepts.
func parseWindow(s string) (time.Duration, error) {
	digits := strings.TrimLeft(s, "0123456789")
	n := int64(1)
	if lead := s[:len(s)-len(digits)]; lead != "" {
		var err error
		if n, err = strconv.ParseInt(lead, 10, 64); err != nil {
			return 0, err
		}
	}
	for _, u := range windowUnits {
		for _, name := range u.names {
			if digits != name {
				continue
			}
			if n > int64(MaxWindow/u.size) {
				return 0, fmt.Errorf("%s is above the longest window", s)
			}
			return time.Duration(n) * u.size, nil
		}
	}
	return time.ParseDuration(s)
}
