package choose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/choose/internal/footprint"
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

// weigh fills in a candidate's figures, and refuses it where nothing can help: the store, the cost, the memory.
func (c *Candidate) weigh(ctx context.Context, m footprint.Model, t store.Traits, w Want) error {
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
	if most := max(shape.Capacity, 0); w.Cost > most {
		c.refuse(refusedCost, "a request costs up to %s: an instant admits %s at most", count(w.Cost), count(most))
	}
	if most := c.Plan.MaxCost; most > 0 && w.Cost > most {
		c.refuse(refusedCost, "a request costs up to %s: it keeps an entry for each and takes %s at most", count(w.Cost), count(most))
	}
	if c.Bytes, err = c.bytes(ctx, m, t, w); err != nil {
		return err
	}
	if total := c.Bytes.Expected * float64(w.Clients); w.Memory > 0 && total > float64(w.Memory) {
		c.refuse(refusedMemory, "%s of %s", size(total), size(float64(w.Memory)))
	}
	c.Speed = speedOf(m, t, c.Algorithm)
	c.Errors = errorsOf(m, w, c.Algorithm)
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
		c.refuse(refusedStore, "a key may need %s: the store keeps %s at most", size(float64(shape.MaxState)), size(float64(t.MaxValue)))
	}
}

// typicalKey stands for a client's key: 16 bytes, as an IPv4 address or a number has at most.
const typicalKey = "client-000000001"

// bytes estimates what a client takes.
func (c *Candidate) bytes(ctx context.Context, m footprint.Model, t store.Traits, w Want) (b Bytes, err error) {
	known := m.Stores[t.Name]
	b.Error = known.Error
	b.Partly = footprint.Allocators[t.Name] == nil
	of := func(held int64) (float64, error) {
		n, err := c.bytesOf(ctx, known, t.Name, w, held)
		return n * float64(w.Keys), err
	}
	slow := w.slowest()
	if b.Full, err = of(slow.Count); err != nil || len(w.Held) == 0 {
		b.Expected = b.Full
		return b, err
	}
	for _, held := range sample(w.Held) {
		n, err := of(min(held, slow.Count))
		if err != nil {
			return b, err
		}
		b.Expected += n / float64(len(sample(w.Held)))
	}
	return b, nil
}

// bytesOf is what one key takes that holds so much of the limit.
func (c *Candidate) bytesOf(ctx context.Context, known footprint.Store, name string, w Want, held int64) (float64, error) {
	items, err := footprint.Fill(ctx, footprint.Client{
		Algorithm: c.Algorithm, Plan: c.Plan, Limit: w.limit(), Prefix: weir.DefaultPrefix, Key: typicalKey,
		Requests: max(held/w.Cost, 1), Cost: w.Cost, Span: w.slowest().Window,
	})
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(c.Algorithm.String(), "+")
	if curve := known.Curves[first]; curve != nil && footprint.Structured(c.Plan) {
		sum := 0.0
		for _, l := range w.Limits { // each has a key of its own
			sum += known.Overhead + footprint.RedisKey(items[0]) + curve.At(max(1, min(held, l.Count)))
		}
		return sum, nil
	}
	allocate := footprint.Allocators[name]
	if allocate == nil {
		allocate = footprint.Plain
	}
	return footprint.Sum(items, allocate, known.Overhead), nil
}

// sample returns at most so many of held that stand for all, evenly by rank.
func sample(held []int64) []int64 {
	const most = 24
	sorted := slices.Sorted(slices.Values(held))
	if len(sorted) <= most {
		return sorted
	}
	few := make([]int64, most)
	for i := range few {
		few[i] = sorted[(2*i+1)*len(sorted)/(2*most)]
	}
	return few
}

// speedOf finds what was measured of an algorithm, or of the same with other options.
func speedOf(m footprint.Model, t store.Traits, a weir.Algorithm) Speed {
	first, _, _ := strings.Cut(a.String(), "+")
	name, _, _ := strings.Cut(first, ",")
	for _, s := range []string{a.String(), first, name} {
		if v, ok := m.Stores[t.Name].Speed[s]; ok {
			return Speed{PerSecond: v.PerSecond, Gathered: v.Gathered}
		}
	}
	return Speed{}
}

// errorsOf finds what was seen of an algorithm: on the caller's traffic, or else in the generated scenarios.
func errorsOf(m footprint.Model, w Want, a weir.Algorithm) *Errors {
	if w.Seen != nil {
		if e, ok := w.Seen[a.String()]; ok {
			return &e
		}
		return nil
	}
	if p, ok := m.Precision[a.String()]; ok {
		return &Errors{Over: p.Over, Denied: p.Denied, Admitted: p.Admitted}
	}
	return nil
}
