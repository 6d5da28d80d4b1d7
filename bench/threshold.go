package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Threshold is a condition on a figure, such as max_in_window>10. A result of which it is true fails.
type Threshold struct {
	Metric string // one of [Metrics]
	Op     string // < <= > >= == !=
	Value  float64
}

// operators are the longer ones first, so that none is read as its beginning.
var operators = []string{"<=", ">=", "==", "!=", "<", ">"}

// ParseThreshold reads METRIC OP NUMBER, spaces or none between. The error names what is wrong with
// it and what would be valid.
func ParseThreshold(s string) (Threshold, error) {
	at := strings.IndexAny(s, "<>=!")
	if at < 0 {
		return Threshold{}, badThreshold(s)
	}
	i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(s[at:], op) })
	if i < 0 {
		return Threshold{}, badThreshold(s)
	}
	t := Threshold{Metric: strings.TrimSpace(s[:at]), Op: operators[i]}
	if !slices.Contains(Metrics(), t.Metric) {
		return t, fieldError("threshold metric", strconv.Quote(t.Metric), "one of "+strings.Join(Metrics(), ", "))
	}
	number := strings.TrimSpace(s[at+len(t.Op):])
	var err error
	if t.Value, err = strconv.ParseFloat(number, 64); err != nil || math.IsNaN(t.Value) || math.IsInf(t.Value, 0) {
		return t, fieldError("threshold number", strconv.Quote(number), "a number, such as 10 or 0.5")
	}
	return t, nil
}

func badThreshold(s string) error {
	return fieldError("threshold", strconv.Quote(s), "METRIC, one of "+strings.Join(operators, " ")+", NUMBER, such as max_in_window>10")
}

// String returns the condition as [ParseThreshold] reads it.
func (t Threshold) String() string {
	return t.Metric + t.Op + strconv.FormatFloat(t.Value, 'g', -1, 64)
}

// Holds reports whether the condition is true of a figure.
func (t Threshold) Holds(figure float64) bool {
	switch t.Op {
	case "<":
		return figure < t.Value
	case "<=":
		return figure <= t.Value
	case ">":
		return figure > t.Value
	case ">=":
		return figure >= t.Value
	case "==":
		return figure == t.Value
	default:
		return figure != t.Value
	}
}

// Failure is a figure of which a threshold is true.
type Failure struct {
	Threshold        Threshold
	Algorithm, Store string
	Where            string // "boundary-burst", "100 events", "64 callers"; empty for a replay
	Figure           float64
}

func (f Failure) String() string {
	where := ""
	if f.Where != "" {
		where = ", " + f.Where
	}
	return fmt.Sprintf("%s on %s%s: %s is %s, and %s fails", f.Algorithm, f.Store, where,
		f.Threshold.Metric, strconv.FormatFloat(f.Figure, 'f', -1, 64), f.Threshold)
}

// Check holds the figures of a run against the threshold. It returns those of which it is true, and how
// many there were to look at: none means that the threshold says nothing about this run.
func (t Threshold) Check(r *Results) (failures []Failure, figures int) {
	for _, res := range r.Results {
		for _, f := range res.figures(t.Metric) {
			figures++
			if t.Holds(f.value) {
				failures = append(failures, Failure{t, res.Algorithm, res.Store, f.where, f.value})
			}
		}
	}
	return failures, figures
}

// CheckReplay is Check for a replay.
func (t Threshold) CheckReplay(r *ReplayResults) (failures []Failure, figures int) {
	for _, res := range r.Results {
		if res.Precision == nil {
			continue
		}
		for _, f := range figuresOf(precisionMetrics, t.Metric, "", *res.Precision) {
			figures++
			if t.Holds(f.value) {
				failures = append(failures, Failure{t, res.Algorithm, res.Store, f.where, f.value})
			}
		}
	}
	return failures, figures
}
