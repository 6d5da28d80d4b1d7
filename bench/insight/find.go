package insight

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
)

// What a [Goal] counts.
const (
	Clients  = "clients"  // that are denied at least once
	Requests = "requests" // that are denied
)

// Goal is how much a limit may deny.
type Goal struct {
	Of   string  `json:"of"`   // [Clients] or [Requests]
	Most float64 `json:"most"` // the share of all that may be denied: 0 to 1
}

// Validate returns a [weir.FieldError] for a goal that is none.
func (g Goal) Validate() error {
	switch {
	case g.Of != Clients && g.Of != Requests:
		return &weir.FieldError{Field: "goal", Value: strconv.Quote(g.Of), Want: Clients + " or " + Requests}
	case !(g.Most >= 0 && g.Most <= 1):
		return &weir.FieldError{Field: "goal share", Value: strconv.FormatFloat(g.Most, 'g', -1, 64), Want: "0 to 1"}
	}
	return nil
}

func (g Goal) String() string {
	return fmt.Sprintf("at most %s%% of %s denied", strconv.FormatFloat(g.Most*100, 'g', 12, 64), g.Of)
}

// most is how many of the traffic's may be denied. The millionth is for shares such as 0.29 of 100, which floating
// point would have just below 29.
func (g Goal) most(t *Traffic) int64 {
	all := t.requests
	if g.Of == Clients {
		all = int64(len(t.clients))
	}
	return int64(math.Floor(g.Most*float64(all) + 1e-6))
}

// Found is the smallest limit that meets a goal.
type Found struct {
	Algorithm string   `json:"algorithm"` // options included
	WindowUS  int64    `json:"window_us"`
	Goal      Goal     `json:"goal"`
	Limit     int64    `json:"limit,omitempty"`    // zero: none up to [weir.MaxCount] meets the goal
	Outcome   *Outcome `json:"outcome,omitempty"`  // under this limit
	OneLess   *Outcome `json:"one_less,omitempty"` // under the limit below it, which does not meet the goal; nil below 1
	// RuledOut is the lowest limit from which on, up to the one found, none meets the goal: 1 where the one found is
	// surely the smallest. Above 1, a limit below may meet it too: see [Traffic.Find].
	RuledOut int64  `json:"ruled_out_from,omitempty"`
	NA       string `json:"na,omitempty"` // why there is no limit
}

// scanned is how many requests are decided at most to rule out lower limits one by one.
const scanned = 1 << 24

// Find searches the smallest count of a limit over window by which an algorithm meets a goal, deciding in this
// process. It doubles the count until one meets the goal, then halves the gap; so the one found meets it and its
// lower neighbour does not.
//
// That it is the smallest of all follows where a higher limit never denies more. Of clients it never does: one is
// denied at some time if and only if the history in which all its requests are admitted is refused somewhere. That
// history is the same under all limits, and what refuses a part of it refuses it under every lower limit too. Of
// requests that each count for one it never does either. A window that begins whatever the limit admits the lesser of
// the limit and what comes. Every other rule refuses a request by how early the admitted ones before it were; so, by
// induction over k, the k-th that is admitted comes no later under the higher limit.
//
// Where requests count for several it may deny more: a limit that lets a ten in may then deny ten ones. So it may
// where the rule itself changes, as the blocks of packed-log,error= grow with the limit, or where it groups requests by
// what was admitted, as block= does. There Find tries the lower limits one by one, and [Found.RuledOut] says how far it
// came.
//
// The error is that of ctx, or a [weir.FieldError] of the goal or the window.
func (t *Traffic) Find(ctx context.Context, a weir.Algorithm, window time.Duration, goal Goal) (Found, error) {
	f := Found{Algorithm: a.String(), WindowUS: window.Microseconds(), Goal: goal}
	if err := goal.Validate(); err != nil {
		return f, err
	}
	if err := (weir.Limit{Count: 1, Window: window}).Validate(); err != nil {
		return f, err
	}
	s := search{traffic: t, algorithm: a, window: window, goal: goal, most: goal.most(t)}
	least, err := s.least(ctx)
	if err != nil {
		return f, err
	}
	if least == 0 {
		f.NA = s.refusal()
		return f, nil
	}
	f.RuledOut = 1
	if !falls(a, goal, t) {
		if least, f.RuledOut, err = s.scan(ctx, least); err != nil {
			return f, err
		}
	}
	f.Limit = least
	if f.Outcome, err = s.outcome(ctx, least); err == nil && least > 1 {
		f.OneLess, err = s.outcome(ctx, least-1)
	}
	return f, err
}

// falls reports whether it is known that a higher limit never denies more of what the goal counts: see [Traffic.Find].
func falls(a weir.Algorithm, goal Goal, t *Traffic) bool {
	known := slices.ContainsFunc(algorithms.Registry(), func(e algorithms.Entry) bool { return e.Name == a.Name() && e.Monotone })
	has := func(option string) bool { return strings.Contains(a.String(), ","+option+"=") }
	return known && !has("error") && (goal.Of == Clients || t.single && !has("block"))
}
