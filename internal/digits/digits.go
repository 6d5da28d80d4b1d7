// Package digits writes numbers for people.
package digits

import (
	"math"
	"strconv"
)

// Group groups the digits of a whole number by threes: 265,000.
func Group[N ~int | ~int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is a number and what it counts: 1 client, 1,200 clients.
func Plural[N ~int | ~int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Group(n) + " " + one + "s"
}

// Short keeps two digits that matter, and all whole ones.
func Short(v float64) string {
	if v >= 10 {
		return Group(int64(math.Round(v)))
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// Percent prints a part, the small ones too: 5 %, 0.83 %.
func Percent(part float64) string {
	p := part * 100
	if p < 1 {
		return strconv.FormatFloat(p, 'g', 2, 64) + " %"
	}
	return Short(p) + " %"
}
