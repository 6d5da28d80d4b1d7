package choose

import (
	"slices"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// Estimate is what one client takes that holds so much of the limit, and by how much that may be off, where keys have
// this prefix.
func Estimate(t store.Traits, a weir.Algorithm, w Want, held int64, prefix string) (bytes, off float64, err error) {
	s, err := newScale()
	if err != nil {
		return 0, 0, err
	}
	s.prefix = prefix
	w = w.withDefaults()
	all := candidates(w)
	i := slices.IndexFunc(all, func(c Candidate) bool { return c.Algorithm.String() == a.String() })
	c := Candidate{Algorithm: a, single: a}
	if i >= 0 {
		c = all[i]
	}
	shape, err := a.Shape(w.limit())
	if err != nil {
		return 0, 0, err
	}
	c.plan(shape, t)
	bytes, err = s.bytesOf(&c, t.Name, w, held)
	return bytes, s.model.Stores[t.Name].Error, err
}
