package conformance

import (
	"errors"
	"fmt"
)

// verdict is the error by which a check says what it found. Any other error that a check
// returns is the store's, in a place where the contract wants none.
type verdict struct {
	status  Status
	text    string
	history []string
}

func (v *verdict) Error() string { return v.text }

func failf(format string, args ...any) error {
	return &verdict{status: Fail, text: fmt.Sprintf(format, args...)}
}

func overclaimf(format string, args ...any) error {
	return &verdict{status: OverClaimed, text: fmt.Sprintf(format, args...)}
}

func inconclusivef(format string, args ...any) error {
	return &verdict{status: Inconclusive, text: fmt.Sprintf(format, args...)}
}

func unsupportedf(format string, args ...any) error {
	return &verdict{status: Unsupported, text: fmt.Sprintf(format, args...)}
}

// broken returns the verdict in err if it is one of a broken rule.
func broken(err error) *verdict {
	if v := verdictOf(err); v != nil && v.status >= OverClaimed {
		return v
	}
	return nil
}

// verdictOf returns the verdict in err, nil if there is none.
func verdictOf(err error) *verdict {
	var v *verdict
	errors.As(err, &v)
	return v
}

// journal is the history of a trial, from which its verdict is told.
type journal struct{ lines []string }

func (j *journal) note(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// failf is the verdict that the last line shows a broken rule.
func (j *journal) failf(format string, args ...any) error {
	return &verdict{status: Fail, text: fmt.Sprintf(format, args...), history: j.lines}
}
