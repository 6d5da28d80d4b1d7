package choose

import (
	"fmt"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/footprint"
	"github.com/weirlimits/weir/store"
)

// refusalKind orders refusals by what would lift them.
type refusalKind uint8

const (
	refusedNot    refusalKind = iota
	refusedStore              // the store cannot run it under this limit
	refusedCost               // a request may cost more than it takes
	refusedMemory             // it does not fit
	refusedOver               // more than is tolerated
	refusedDeny
)

func (c *Candidate) refuse(kind refusalKind, format string, args ...any) {
	if c.needs == refusedNot {
		c.needs, c.Refused = kind, fmt.Sprintf(format, args...)
	}
}

// scale weighs candidates by what was measured, and remembers what it filled.
type scale struct {
	model  footprint.Model
	prefix string // of the keys
	filled map[string][]footprint.Item
}

func newScale() (*scale, error) {
	m, err := measured()
	return &scale{m, weir.DefaultPrefix, map[string][]footprint.Item{}}, err
}

// weigh fills in a candidate's figures, and refuses it where nothing can help: the store, the cost, the memory.
func (s *scale) weigh(c *Candidate, t store.Traits, w Want) error {
	limit := w.limit()
	shape, err := c.Algorithm.Shape(limit)
	if err != nil {
		return err
	}
	c.MaxInWindow = shape.Guarantee.MaxInWindow
	if w.Aligned && c.Algorithm.String() == algorithms.FixedWindow().String() {
		c.MaxInWindow = limit.Count // its own windows are those that are meant
	}
	c.Over = max(0, float64(c.MaxInWindow)/float64(limit.Count)-1)
	c.Deny = earlyDenial(shape.Guarantee, limit)
	c.plan(shape, t)
	if c.Plan.Name == "" {
		return nil
	}
	c.Trips = c.Plan.Trips * w.Keys
	if most := shape.Capacity; w.Cost > most {
		c.refuse(refusedCost, "a request costs up to %s: an instant admits %s at most", count(w.Cost), count(most))
	}
	if most := c.Plan.MaxCost; most > 0 && w.Cost > most {
		c.refuse(refusedCost, "a request costs up to %s: it keeps an entry for each and takes %s at most",
			count(w.Cost), count(most))
	}
	if c.Bytes, err = s.bytes(c, t.Name, w); err != nil {
		return err
	}
	if total := c.Bytes.Expected * float64(w.Clients); w.Memory > 0 && total > float64(w.Memory) {
		c.refuse(refusedMemory, "%s of %s", size(total), size(float64(w.Memory)))
	}
	c.Speed = s.speed(c, t.Name)
	c.Errors = s.errors(c, w)
	return nil
}

// earlyDenial is what a declared deficit comes to: so much of the limit, or for so much of the window.
func earlyDenial(g weir.Guarantee, l weir.Limit) float64 {
	deny := min(1, float64(g.Deficit)/float64(l.Count))
	if g.DeficitFor > 0 {
		deny = min(deny, float64(g.DeficitFor)/float64(l.Window))
	}
	return deny
}

// plan picks the first plan that the store can run, as [weir.New] does.
func (c *Candidate) plan(shape weir.Shape, t store.Traits) {
	var lacks []string
	for _, p := range shape.Plans {
		if t.Capabilities.Has(p.Needs) {
			c.Plan = p
			break
		}
		lacks = append(lacks, (p.Needs &^ t.Capabilities).String())
	}
	switch {
	case c.Plan.Name == "":
		c.refuse(refusedStore, "needs %s", strings.Join(lacks, " or "))
	case shape.MaxTTL > t.MaxTTL:
		c.refuse(refusedStore, "needs keys that live for %v: the store keeps none longer than %v", shape.MaxTTL, t.MaxTTL)
	case t.MaxValue > 0 && shape.MaxState > t.MaxValue:
		c.refuse(refusedStore, "a key may need %s: the store keeps %s at most",
			size(float64(shape.MaxState)), size(float64(t.MaxValue)))
	}
}

// speed finds what was measured of a candidate, or of the same algorithm with other options.
func (s *scale) speed(c *Candidate, storeName string) Speed {
	for _, name := range []string{c.Algorithm.String(), c.single.String(), c.single.Name()} {
		if v, ok := s.model.Stores[storeName].Speed[name]; ok {
			return Speed{PerSecond: v.PerSecond, Gathered: v.Gathered}
		}
	}
	return Speed{}
}

// errors finds what was seen of a candidate: on the caller's traffic, or else in the generated scenarios.
func (s *scale) errors(c *Candidate, w Want) *Errors {
	name := c.Algorithm.String()
	if e, ok := w.Seen[name]; ok {
		return &e
	}
	if p, ok := s.model.Precision[name]; ok && w.Seen == nil {
		return &Errors{Over: p.Over, Denied: p.Denied, Admitted: p.Admitted}
	}
	return nil
}
