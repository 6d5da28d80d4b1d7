package choose

import (
	"math"
	"time"

	"github.com/weirlimits/weir/internal/digits"
)

func count(n int64) string { return digits.Group(n) }

// size prints bytes with two digits that matter, and all whole ones: 12 GB, 1.4 TB, 481 bytes.
func size(bytes float64) string {
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e4, "kB"}} {
		if bytes >= u.bytes {
			if u.name == "kB" {
				bytes, u.bytes = bytes/1e3, 1
			}
			return digits.Short(bytes/u.bytes) + " " + u.name
		}
	}
	return digits.Group(int64(math.Round(bytes))) + " bytes"
}

// tolerated is a tolerance in words.
func tolerated(part float64) string {
	if part == 0 {
		return "none"
	}
	return digits.Percent(part)
}

// span prints a duration as people write it: 1m, 900ms.
func span(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"0s", "0m"} { // "1m0s", "1h0m0s"
		if n := len(s) - len(zero); n > 0 && s[n:] == zero && (s[n-1] == 'm' || s[n-1] == 'h') {
			s = s[:n]
		}
	}
	return s
}

// times is a ratio: "2.5 times".
func times(ratio float64) string { return digits.Short(ratio) + " times" }
