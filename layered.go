package weir

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimits/weir/store"
)

// Layer is one of several limits that a request must pass.
type Layer struct {
	Algorithm Algorithm
	Limit     Limit
}

// Layered decides by a, under the limit that [New] is given, and by more layers under
// theirs: all or nothing. A request is admitted where every layer admits it, and only
// then counts in each. Remaining is the least of any layer, RetryAfter is when all would
// admit, ResetAfter when all are as new. Its guarantee is a's; each layer keeps its own
// in its own window.
//
//	// 100 a minute, of which no more than 5 in any one second: the burst cage.
//	caged := weir.Layered(algorithms.FixedWindow(), weir.Layer{algorithms.FixedWindow(), perSecond})
//
// The layers' states are one composite value, so one ordinary step decides them,
// atomically under a script and under compare-and-swap. Layers whose state is a data
// structure of the server have a key each beside it, in the same slot.
func Layered(a Algorithm, more ...Layer) Algorithm {
	return layered{first: a, more: slices.Clone(more)}
}

type layered struct {
	first Algorithm
	more  []Layer
}

func (layered) Name() string { return "layered" }

// String is the first layer's, and the others' behind plus signs; the algorithm only
// where it is another.
func (l layered) String() string {
	var b strings.Builder
	b.WriteString(l.first.String())
	for _, m := range l.more {
		b.WriteByte('+')
		if m.Algorithm.String() != l.first.String() {
			b.WriteString(m.Algorithm.String() + "@")
		}
		b.WriteString(m.Limit.String())
	}
	return b.String()
}

// layers are all of them, those of layers that are layered themselves in their place.
func (l layered) layers(limit Limit) []Layer {
	var all []Layer
	for _, layer := range append([]Layer{{l.first, limit}}, l.more...) {
		if inner, ok := layer.Algorithm.(layered); ok {
			all = append(all, inner.layers(layer.Limit)...)
		} else {
			all = append(all, layer)
		}
	}
	return all
}

func (l layered) Shape(limit Limit) (Shape, error) {
	layers := l.layers(limit)
	c := composite{}
	shape := Shape{Format: "1"}
	swaps := true
	var needs store.Capability
	var maxCost int64
	for i, layer := range layers {
		if err := layer.Limit.Validate(); err != nil {
			return Shape{}, err
		}
		s, err := layer.Algorithm.Shape(layer.Limit)
		if err != nil {
			return Shape{}, err
		}
		plan := s.Plans[0]
		if plan.Step == nil || s.Guarantee.DeniedCount {
			return Shape{}, &FieldError{
				Field: "layer", Value: layer.Algorithm.String(),
				Want: "an algorithm that runs a step and does not count denied requests",
			}
		}
		c.add(plan.Step, plan.Params)
		needs |= plan.Needs
		swaps = swaps && plan.Needs == store.CapScript
		if plan.MaxCost > 0 && (maxCost == 0 || plan.MaxCost < maxCost) {
			maxCost = plan.MaxCost
		}
		if i == 0 {
			shape.Guarantee, shape.Capacity = s.Guarantee, s.Capacity
			shape.Format += "." + layer.Algorithm.Name() + "." + s.Format
		} else {
			shape.Format += "+" + layer.Algorithm.Name() + "." + s.Format + "." + formatWindow(layer.Limit.Window)
		}
		shape.Capacity = min(shape.Capacity, s.Capacity)
		shape.MaxTTL = max(shape.MaxTTL, s.MaxTTL)
		shape.MaxState += s.MaxState
	}
	step, params := c.step(shape.MaxTTL.Microseconds())
	script := ScriptPlan(step, params, needs)
	script.MaxCost = maxCost
	if step.Keyed {
		script.Bind = braced(script.Bind, len(layers))
	}
	shape.Plans = []Plan{script}
	if swaps {
		shape.Plans = append(shape.Plans, SwapPlan(step, params))
	}
	return shape, nil
}

// composite puts steps together into one.
type composite struct {
	steps  []*store.Step
	params []int64 // for each step how many it has, and those
}

func (c *composite) add(s *store.Step, params []int64) {
	c.steps = append(c.steps, s)
	c.params = append(append(c.params, int64(len(params))), params...)
}

// step returns the composite step and its parameters: how long any layer's state may
// live, then each layer's.
func (c *composite) step(life int64) (*store.Step, []int64) {
	name, keyed := "layered", false
	var lua strings.Builder
	lua.WriteString("local parts, keyed = {}, {}\n")
	for i, s := range c.steps {
		name += "_" + s.Name
		keyed = keyed || s.Keyed
		fmt.Fprintf(&lua, "parts[%d] = (function()\n%s\nend)()\nkeyed[%d] = %t\n", i+1, s.Lua, i+1, s.Keyed)
	}
	lua.WriteString(layeredLua)
	if keyed {
		lua.WriteString(layeredKeyedLua)
	} else {
		lua.WriteString(layeredValueLua)
	}
	return &store.Step{
		Name: name, Func: c.run, Lua: lua.String(), Keyed: keyed,
		Weight: func(a store.Args) int {
			n := 4
			for i, part := range c.split(a.Params[1:]) {
				if w := c.steps[i].Weight; w != nil {
					n += 2 * w(store.Args{Cost: a.Cost, Params: part})
				}
			}
			return n
		},
	}, append([]int64{life}, c.params...)
}

// split yields each layer's parameters.
func (c *composite) split(params []int64) func(yield func(int, []int64) bool) {
	return func(yield func(int, []int64) bool) {
		for i := range c.steps {
			n := params[0]
			if !yield(i, params[1:1+n]) {
				return
			}
			params = params[1+n:]
		}
	}
}

// maxLayers is how many layers are decided without allocating.
const maxLayers = 4

// run is the composite's Go twin. The state is each layer's, with its length before it.
// First every layer is asked what it has left; a layer admits a cost exactly where that
// is enough. Then all take it, or those that cannot say when they could.
func (c *composite) run(state []byte, a store.Args) store.Result {
	var buf, oldBuf [maxLayers][]byte
	states := buf[:0]
	rest := state
	for range c.steps {
		if len(state) == 0 {
			states = append(states, nil)
			continue
		}
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return store.Result{Corrupt: true}
		}
		states = append(states, rest[size:size+int(n):size+int(n)])
		rest = rest[size+int(n):]
	}
	if len(rest) > 0 {
		return store.Result{Corrupt: true}
	}
	old := append(oldBuf[:0], states...)
	peek := a
	peek.Cost = 0
	var short [maxLayers]bool
	cannot := short[:0]
	res := store.Result{Reply: store.Reply{Allowed: true, Remaining: MaxCount}}
	combine := func(r store.Reply) {
		res.Reply.Allowed = res.Reply.Allowed && r.Allowed
		res.Reply.Remaining = min(res.Reply.Remaining, r.Remaining)
		res.Reply.RetryAfter = max(res.Reply.RetryAfter, r.RetryAfter)
		res.Reply.ResetAfter = max(res.Reply.ResetAfter, r.ResetAfter)
	}
	admitted := true
	for i, params := range c.split(a.Params[1:]) {
		peek.Params = params
		r := c.steps[i].Func(states[i], peek)
		if r.Corrupt {
			return r
		}
		combine(r.Reply)
		cannot = append(cannot, r.Reply.Remaining < a.Cost)
		admitted = admitted && !cannot[i]
	}
	if a.Cost == 0 {
		return res
	}
	if admitted {
		res.Reply = store.Reply{Allowed: true, Remaining: MaxCount}
	}
	changed := false
	for i, params := range c.split(a.Params[1:]) {
		if !admitted && !cannot[i] {
			continue
		}
		a := a
		a.Params = params
		r := c.steps[i].Func(states[i], a)
		if r.Corrupt || r.Reply.Allowed != admitted {
			return store.Result{Corrupt: true}
		}
		combine(r.Reply)
		if r.State != nil {
			states[i], changed = r.State, true
			res.TTL = max(res.TTL, r.TTL)
		}
	}
	if !changed {
		return res
	}
	if !admitted || a.Cost < 0 {
		res.TTL = a.Params[0] // the layers that wrote nothing must live on
	}
	size, fits := 0, true
	for i, s := range states {
		size += len(s) + binary.MaxVarintLen32
		fits = fits && len(s) == len(old[i])
	}
	if fits { // as with all states of fixed size
		for i, s := range states {
			copy(old[i], s)
		}
		res.State = state
		return res
	}
	res.State = make([]byte, 0, size)
	for _, s := range states {
		res.State = append(binary.AppendUvarint(res.State, uint64(len(s))), s...)
	}
	return res
}

// braced puts the user's key into braces, so that the keys of layers that have one of
// their own are in one slot.
func braced(bind func(Binding) (Bound, error), layers int) func(Binding) (Bound, error) {
	return func(b Binding) (Bound, error) {
		bound, err := bind(b)
		return &bracedBound{bound, layers}, err
	}
}

type bracedBound struct {
	bound  Bound
	layers int
}

func (b *bracedBound) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	return b.bound.Take(ctx, "{:"+key+"}", cost)
}

func (b *bracedBound) Keys(key string) []string {
	keys := b.bound.Keys("{:" + key + "}")
	for i := range b.layers {
		keys = append(keys, fmt.Sprintf("%s%d", keys[0], i+1))
	}
	return keys
}
