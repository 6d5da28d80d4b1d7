// Package digits writes numbers for people.
package digits

import "strconv"

// Group groups the digits of a whole number by threes: 265,000.
func Group[N ~int | ~int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
