package weir

import (
	"context"
	"time"

	"github.com/weirlimits/weir/store"
)

// Algorithm is a way to limit, with its options already set. It is immutable. Anyone
// may write one: usually as a [store.Step] with [ScriptPlan] and [SwapPlan].
type Algorithm interface {
	// Name is the registered name, without options: "gcra".
	Name() string
	// String is the name with the options that differ from their defaults, as the
	// program reads it: "gcra,burst=20".
	String() string
	// Shape computes what the algorithm is under a valid limit. It returns a
	// [FieldError] where an option does not go with the limit.
	Shape(limit Limit) (Shape, error)
}

// Shape is what an algorithm promises and needs under one limit. It is data.
type Shape struct {
	// Format tells states apart that must not be read as one another: a version of
	// the state's encoding, and whatever options change its meaning. It is part of
	// every key, as the window is. Letters, digits, ".", "," and "=".
	Format string
	// Capacity is the most that one instant admits from idle.
	Capacity int64
	// Guarantee is the worst that can happen.
	Guarantee Guarantee
	// MaxTTL is the longest that a key must live. A store that keeps none so long
	// cannot run the algorithm under this limit.
	MaxTTL time.Duration
	// MaxState bounds the bytes of a key's value where they grow with the limit; zero
	// where they are few. A store that keeps none so large cannot run the plans that
	// move whole values.
	MaxState int
	// Plans are the ways to run, best first.
	Plans []Plan
}

// Guarantee is an algorithm's worst case, reached where a window has at least 2L
// ticks and never exceeded, as long as the store loses nothing: eviction and lost
// writes void any bound.
type Guarantee struct {
	// MaxInWindow is the most that any window of length W can see admitted.
	MaxInWindow int64
	// Deficit is the most places that were free, by the limiter's own history in
	// (t-W, t], when it denied a request of cost 1.
	Deficit int64
	// DeficitFor bounds how long such a denial can last after the places became
	// free; zero where nothing shorter than the window bounds it.
	DeficitFor time.Duration
	// DeniedCount tells that denied requests count like admitted ones.
	DeniedCount bool
}

// Plan is one way to run an algorithm on a kind of store.
type Plan struct {
	// Name is "script", "compare-and-swap", "counter", or the algorithm's own.
	Name string
	// Needs is what the store must have.
	Needs store.Capability
	// Trips and DeniedTrips are how many round trips an admitted and a denied request
	// make where nobody contends for the key.
	Trips, DeniedTrips int
	// Spurious tells that the plan adds first and gives back what it then denies, so
	// it can deny for a moment what another caller's rollback would have freed. It
	// never admits more than the algorithm.
	Spurious bool
	// Racy tells that the plan is not atomic: concurrent callers can exceed the
	// guarantee. No plan of this module's algorithms is.
	Racy bool
	// Refunds tells that the plan gives back: its Take knows costs below zero.
	Refunds bool
	// MaxCost is the largest cost of one request; zero means the capacity.
	MaxCost int64
	// Step and Params are what the plan runs, where it runs a step; [Layered] composes
	// them.
	Step   *store.Step
	Params []int64
	// Bind readies the plan. It may assume that the store meets Needs.
	Bind func(b Binding) (Bound, error)
}

// Exactness says in a word or two how true the plan is to its algorithm.
func (p Plan) Exactness() string {
	switch {
	case p.Racy:
		return "racy"
	case p.Spurious:
		return "spurious denials"
	default:
		return "atomic"
	}
}

// Binding is what a plan is bound to.
type Binding struct {
	Store store.Store
	Space string           // begins every key; ends in a separator
	Clock func() time.Time // nil: the store's own
}

// Bound is a plan at work. It is safe for concurrent use.
type Bound interface {
	// Take decides. The cost is at most the plan's largest; below zero it is given back.
	Take(ctx context.Context, key string, cost int64) (store.Reply, error)
	// Keys returns the full names of the keys that may hold state for key now.
	Keys(key string) []string
}

// choosePlan returns the first plan that the store can run.
func choosePlan(a Algorithm, plans []Plan, st store.Store) (Plan, error) {
	t := st.Traits()
	has := t.Capabilities & store.Implemented(st)
	missing := make([]MissingNeeds, 0, len(plans))
	for _, p := range plans {
		if has.Has(p.Needs) {
			return p, nil
		}
		missing = append(missing, MissingNeeds{Plan: p.Name, Lacks: p.Needs &^ has})
	}
	return Plan{}, &UnsupportedError{Algorithm: a.String(), Store: t.Name, Has: has, Missing: missing}
}
