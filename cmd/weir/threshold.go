package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/report"
)

// threshold is one --fail-if: a metric, a comparison and a number.
type threshold struct {
	metric, op string
	value      float64
}

// The longer ones first, so that none is read as its beginning.
var operators = []string{">=", "<=", "==", "!=", ">", "<"}

func parseThreshold(s string, metrics []string) (threshold, error) {
	for i := range s {
		for _, op := range operators {
			if !strings.HasPrefix(s[i:], op) {
				continue
			}
			t := threshold{metric: strings.TrimSpace(s[:i]), op: op}
			if !slices.Contains(metrics, t.metric) {
				return t, &weir.FieldError{
					Field: "--fail-if metric", Value: strconv.Quote(t.metric), Want: "one of " + strings.Join(metrics, ", "),
				}
			}
			number := strings.TrimSpace(s[i+len(op):])
			var err error
			if t.value, err = strconv.ParseFloat(number, 64); err != nil || math.IsNaN(t.value) || math.IsInf(t.value, 0) {
				return t, &weir.FieldError{Field: "--fail-if number", Value: strconv.Quote(number), Want: "a number, such as 10 or 0.5"}
			}
			return t, nil
		}
	}
	return threshold{}, &weir.FieldError{
		Field: "--fail-if", Value: strconv.Quote(s),
		Want: "METRIC, one of " + strings.Join(operators, " ") + ", and a number, such as max_in_window>10",
	}
}

// holds reports whether the comparison is true of a measured value.
func (t threshold) holds(v float64) bool {
	switch t.op {
	case ">":
		return v > t.value
	case "<":
		return v < t.value
	case ">=":
		return v >= t.value
	case "<=":
		return v <= t.value
	case "==":
		return v == t.value
	default:
		return v != t.value
	}
}

func (t threshold) String() string {
	return fmt.Sprintf("%s%s%v", t.metric, t.op, t.value)
}

func (c *common) parseFailIf() error {
	c.failIf = nil
	for _, s := range c.given.failIf {
		t, err := parseThreshold(s, c.metrics)
		if err != nil {
			return err
		}
		c.failIf = append(c.failIf, t)
	}
	return nil
}

// checkFailIf is the error of the first figure for which a threshold holds. A threshold on what was
// never measured has not been passed either.
func (c *common) checkFailIf(figures []report.Figure) error {
	for _, t := range c.failIf {
		measured := false
		for _, f := range figures {
			if f.Metric != t.metric || f.NA != "" {
				continue
			}
			measured = true
			if t.holds(f.Value) {
				at := ""
				if f.At != "" {
					at = " at " + f.At
				}
				return failed(fmt.Errorf("weir: %s on %s: %s%s is %v: --fail-if %s holds", f.Algorithm, f.Store, f.Metric, at, f.Value, t))
			}
		}
		if !measured {
			return failed(fmt.Errorf("weir: --fail-if %s: cannot be checked: no result has that figure", t))
		}
	}
	return nil
}
