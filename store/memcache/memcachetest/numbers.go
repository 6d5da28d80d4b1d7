package memcachetest

import (
	"bytes"
	"math"
)

// parseUint reads a decimal number as memcached does, by the rules of C's strtoull: blanks and a sign may come first, the number
// ends at a blank, at a zero byte or at the end, and a minus sign counts modulo 2^64 unless the result is 2^63 or more.
func parseUint(text []byte) (uint64, bool) {
	text, _, _ = bytes.Cut(text, []byte{0})
	magnitude, negative, ok := parseDigits(text)
	if negative {
		magnitude = -magnitude
	}
	if !ok || magnitude > math.MaxInt64 && bytes.IndexByte(text, '-') >= 0 {
		return 0, false
	}
	return magnitude, true
}

// parseInt reads a decimal number by the rules of C's strtoll.
func parseInt(text []byte) (int64, bool) {
	magnitude, negative, ok := parseDigits(text)
	switch {
	case !ok:
		return 0, false
	case negative:
		return -int64(magnitude), magnitude <= -math.MinInt64
	default:
		return int64(magnitude), magnitude <= math.MaxInt64
	}
}

// parseUint32 and parseInt32 keep the low 32 bits of a longer number, as memcached does.
func parseUint32(text []byte) (uint32, bool) {
	n, ok := parseUint(text)
	return uint32(n), ok
}

func parseInt32(text []byte) (int32, bool) {
	n, ok := parseInt(text)
	return int32(n), ok
}

func parseDigits(text []byte) (magnitude uint64, negative, ok bool) {
	i := 0
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	first := i
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		digit := uint64(text[i] - '0')
		if magnitude > (math.MaxUint64-digit)/10 {
			return 0, false, false
		}
		magnitude = magnitude*10 + digit
		i++
	}
	return magnitude, negative, i > first && (i == len(text) || isBlank(text[i]))
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
