package choose

import (
	"context"
	"fmt"
	"slices"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/footprint"
	"github.com/weirlimits/weir/store"
)

// betweenPoints is by how much a straight line between two measured points may be off.
const betweenPoints = 0.10

// bytes estimates what a client takes in a store of this name.
func (s *scale) bytes(c *Candidate, storeName string, w Want) (Bytes, error) {
	b := Bytes{Error: s.model.Stores[storeName].Error, Partly: footprint.Allocators[storeName] == nil}
	if s.model.Stores[storeName].Curves[c.single.String()] != nil {
		b.Error = max(b.Error, betweenPoints)
	}
	of := func(held int64) (float64, error) {
		n, err := s.bytesOf(c, storeName, w, held)
		return n * float64(w.Keys), err
	}
	most := w.slowest().Count
	var err error
	if b.Full, err = of(most); err != nil || len(w.Held) == 0 {
		b.Expected = b.Full
		return b, err
	}
	few := sample(w.Held)
	for _, held := range few {
		n, err := of(min(held, most))
		if err != nil {
			return b, err
		}
		b.Expected += n / float64(len(few))
	}
	return b, nil
}

// bytesOf is what one key takes that holds so much of the limit.
func (s *scale) bytesOf(c *Candidate, storeName string, w Want, held int64) (float64, error) {
	p := c.Plan
	if len(w.Limits) > 1 && storeName == "redis" && p.Step != nil && p.Step.Keyed && p.Needs.Has(store.CapScript) {
		return s.bytesOfLayers(c, storeName, w, held)
	}
	known := s.model.Stores[storeName]
	if curve := known.Curves[c.single.String()]; curve != nil && footprint.Structured(c.Plan) {
		items, err := s.fill(c, w, 1)
		if err != nil {
			return 0, err
		}
		return known.Overhead + footprint.RedisKey(items[0]) + curve.At(max(1, held)), nil
	}
	items, err := s.fill(c, w, max(held/w.Cost, 1))
	if err != nil {
		return 0, err
	}
	allocate := footprint.Allocators[storeName]
	if allocate == nil {
		allocate = footprint.Plain
	}
	return footprint.Sum(items, allocate, known.Overhead), nil
}

// bytesOfLayers is for layers that have a key each in Redis.
func (s *scale) bytesOfLayers(c *Candidate, storeName string, w Want, held int64) (sum float64, err error) {
	for _, l := range w.Limits {
		shape, err := c.single.Shape(l)
		if err != nil {
			return 0, err
		}
		one := Candidate{Algorithm: c.single, single: c.single, Plan: shape.Plans[0]} // a script, as that of the layers
		w.Limits = []weir.Limit{l}
		n, err := s.bytesOf(&one, storeName, w, min(held, l.Count))
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// fill plays requests, once for each question.
func (s *scale) fill(c *Candidate, w Want, requests int64) ([]footprint.Item, error) {
	client := footprint.Client{
		Algorithm: c.Algorithm, Plan: c.Plan, Limit: w.limit(), Prefix: s.prefix, Key: footprint.TypicalKey,
		Requests: requests, Cost: w.Cost, Span: w.slowest().Window,
	}
	name := fmt.Sprint(c.Algorithm, " ", c.Plan.Name, " ", client.Limit, " ", client.Span, " ", requests, " ", client.Cost)
	items, ok := s.filled[name]
	if ok {
		return items, nil
	}
	items, err := footprint.Fill(context.Background(), client)
	if err != nil {
		return nil, fmt.Errorf("choose: %s: %w", c.Algorithm, err)
	}
	s.filled[name] = items
	return items, nil
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
