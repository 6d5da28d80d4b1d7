package report

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/weirlimits/weir/internal/digits"
)

const standIn = "n/a (stand-in)"

// notMeasured names why a figure is missing.
func notMeasured(why string) string {
	if why == "" {
		return ""
	}
	return "n/a (" + why + ")"
}

// rough keeps three digits of what is only known so well: 264,812 is 265,000.
func rough(v float64) string {
	if v < 1000 || v > 1e18 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return digits.Group(int64(math.Round(v/unit) * unit))
}

// micros prints a time given in microseconds.
func micros(us float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{3600e6, "h"}, {60e6, "min"}, {1e6, "s"}, {1e3, "ms"}, {1, "us"}} {
		if math.Abs(us) >= u.size {
			return strconv.FormatFloat(us/u.size, 'g', 3, 64) + u.name
		}
	}
	if us == 0 {
		return "0"
	}
	return strconv.FormatFloat(us*1000, 'f', 0, 64) + "ns"
}

// bytesOf prints what a key costs: whole bytes where they are whole.
func bytesOf(v float64) string {
	if v < 100 && v != math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	if math.Abs(v) > 1e15 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return digits.Group(int64(math.Round(v)))
}

// sizeOf prints a total.
func sizeOf(v float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64) + " " + units[i]
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + units[i]
}

// share prints a part of a whole where also the very small ones matter: 0.003%.
func share(part float64) string {
	p := part * 100
	switch {
	case p == 0:
		return "0"
	case math.Abs(p) >= 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	default:
		return strconv.FormatFloat(p, 'g', 2, 64) + "%"
	}
}

func percent(part float64) string { return strconv.FormatFloat(part*100, 'f', 0, 64) + "%" }

// printable replaces what could break a line or drive a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
