package bench

import (
	"errors"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/store"
)

// pair is an algorithm on a backend.
type pair struct {
	algorithm weir.Algorithm
	backend   *backend.Backend
	limit     weir.Limit
}

// single is the store by which each decision is a round trip of its own, as measuring takes it.
func (p pair) single() store.Store {
	if p.backend.Single != nil {
		return p.backend.Single
	}
	return p.backend.Store
}

func (p pair) String() string { return p.algorithm.String() + " on " + p.backend.Name }

// pairs lists the algorithms on each backend, one backend after the other.
func pairs(algorithms []weir.Algorithm, backends []*backend.Backend, limit weir.Limit) []pair {
	all := make([]pair, 0, len(algorithms)*len(backends))
	for _, b := range backends {
		for _, a := range algorithms {
			all = append(all, pair{algorithm: a, backend: b, limit: limit})
		}
	}
	return all
}

// unsupported returns what the store lacks to run the algorithm, nil if nothing.
func (p pair) unsupported() ([]string, error) {
	_, err := weir.New(p.algorithm, p.limit, p.backend.Store, nil)
	var missing *weir.UnsupportedError
	switch {
	case errors.As(err, &missing):
		return lacks(missing), nil
	case err == nil:
		return nil, nil
	}
	shape, shapeErr := p.algorithm.Shape(p.limit)
	if most := p.backend.Store.Traits().MaxTTL; shapeErr == nil && shape.MaxTTL > most {
		return []string{"keys that live for " + shape.MaxTTL.String()}, nil
	}
	return nil, err
}

// lacks lists the missing capabilities of the only plan; of several plans the alternatives.
func lacks(e *weir.UnsupportedError) []string {
	if len(e.Missing) != 1 {
		return []string{e.Needs()}
	}
	var names []string
	for _, c := range e.Missing[0].Lacks.Each() {
		names = append(names, c.String())
	}
	return names
}

// describe fills in what is known of a pair before it runs.
func (p pair) describe() (Result, error) {
	r := Result{Algorithm: p.algorithm.String(), Store: p.backend.Name}
	var err error
	if r.Unsupported, err = p.unsupported(); err != nil || r.Unsupported != nil {
		return r, err
	}
	shape, err := p.algorithm.Shape(p.limit)
	if err != nil {
		return r, err
	}
	traits := p.backend.Store.Traits()
	has := traits.Capabilities & store.Implemented(p.backend.Store)
	for _, plan := range shape.Plans {
		if has.Has(plan.Needs) {
			r.Plan, r.Exactness, r.Trips, r.DeniedTrips = plan.Name, plan.Exactness(), plan.Trips, plan.DeniedTrips
			break
		}
	}
	r.Guarantee = &GuaranteeInfo{
		MaxInWindow: shape.Guarantee.MaxInWindow, Deficit: shape.Guarantee.Deficit, Evicts: traits.Evicts,
	}
	return r, nil
}
