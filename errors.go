package weir

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weirlimits/weir/store"
)

// FieldError names the one field of the caller's input that is wrong.
type FieldError struct {
	Field string // "limit window", "burst", "prefix"
	Value string // as given
	Want  string // what would be valid
}

// Error returns one line: the field, its value, and what would be valid.
func (e *FieldError) Error() string {
	return fmt.Sprintf("weir: %s: %s: want %s", e.Field, e.Value, e.Want)
}

// UnsupportedError says that a store can run none of an algorithm's plans. It
// unwraps to [errors.ErrUnsupported].
type UnsupportedError struct {
	Algorithm string           // with its options
	Store     string           // the store's name
	Has       store.Capability // all that the store has
	Missing   []MissingNeeds   // for each plan, best first, what the store lacks
}

// MissingNeeds is what a store lacks for one plan.
type MissingNeeds struct {
	Plan  string
	Lacks store.Capability
}

// Error returns one line with the algorithm, the store, what it has and what is missing.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("weir: %s cannot run on %s: it needs %s; the store has %s",
		e.Algorithm, e.Store, e.Needs(), e.Has)
}

// Needs says briefly what is missing: the lacks of each plan, joined by "or".
func (e *UnsupportedError) Needs() string {
	needs := make([]string, len(e.Missing))
	for i, m := range e.Missing {
		needs[i] = m.Lacks.String()
	}
	return strings.Join(needs, " or ")
}

// Unwrap returns [errors.ErrUnsupported].
func (e *UnsupportedError) Unwrap() error { return errors.ErrUnsupported }
