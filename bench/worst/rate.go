package worst

import "encoding/binary"

// graph is the limiter's states and what can happen in each: a request of cost 1 to 3,
// or a tick.
type graph struct {
	index map[string]int32
	edges [][mostCost + 1]edge
	key   []byte
}

type edge struct {
	to   int32 // below 0: there is none
	gain int64 // what is admitted
}

// tickEdge is the edge that takes a tick; the others take no time.
const tickEdge = 0

func newGraph() *graph { return &graph{index: map[string]int32{}} }

func (g *graph) vertex(phase int64, state string) int32 {
	g.key = append(binary.AppendVarint(g.key[:0], phase), state...)
	if v, ok := g.index[string(g.key)]; ok {
		return v
	}
	v := int32(len(g.edges))
	g.index[string(g.key)] = v
	none := edge{to: -1}
	g.edges = append(g.edges, [mostCost + 1]edge{none, none, none, none})
	return v
}

func (g *graph) connect(from int32, kind int, to int32, gain int64) {
	if e := &g.edges[from][kind]; e.to < 0 {
		*e = edge{to: to, gain: gain}
	}
}

// rate is so many admitted in so many ticks.
type rate struct{ gain, ticks int64 }

func (r rate) float() float64 { return float64(r.gain) / float64(r.ticks) }

func (r rate) above(o rate) bool { return r.gain*o.ticks > o.gain*r.ticks }

// highest is the best rate of any cycle. It starts with that of a client who never
// stops asking, and looks for a cycle that gains more than the rate so far gives in the
// same time, until there is none.
func (g *graph) highest() rate {
	best := g.saturated(rate.above)
	for {
		better, ok := g.better(best)
		if !ok {
			return best
		}
		best = better
	}
}

// greediest is the lowest rate that a client who never stops asking can end in.
func (g *graph) greediest() rate {
	return g.saturated(func(r, than rate) bool { return than.above(r) })
}

// saturated walks as a client who asks for 1 at every tick, and again after every
// admission, and returns the first by order of the rates of all cycles in which that
// ends.
func (g *graph) saturated(first func(r, than rate) bool) rate {
	found := rate{0, 0}
	seen := make([]int32, len(g.edges)) // by which walk
	for start := range g.edges {
		v := int32(start)
		for seen[v] == 0 {
			seen[v] = int32(start) + 1
			v, _ = g.asked(v)
		}
		if seen[v] != int32(start)+1 {
			continue // into what an earlier walk saw
		}
		var r rate
		for w := v; ; {
			next, gain := g.asked(w)
			r.gain, r.ticks = r.gain+gain, r.ticks+1
			if w = next; w == v {
				break
			}
		}
		if found.ticks == 0 || first(r, found) {
			found = r
		}
	}
	return found
}

// asked is where one tick of asking leads, and what it gains.
func (g *graph) asked(v int32) (next int32, gain int64) {
	for {
		e := g.edges[v][1]
		v, gain = e.to, gain+e.gain
		if e.gain == 0 {
			return g.edges[v][tickEdge].to, gain
		}
	}
}

// better returns the rate of a cycle that is above r. It is the search for a cycle of
// positive weight by Bellman and Ford, where an edge weighs its gain less what r gives
// in its time.
func (g *graph) better(r rate) (rate, bool) {
	weight := make([]int64, len(g.edges))
	from := make([]int32, len(g.edges))
	kind := make([]int8, len(g.edges))
	for v := range from {
		from[v] = -1
	}
	for changed := true; changed; {
		changed = false
		for v := range g.edges {
			for k, e := range g.edges[v] {
				if e.to < 0 {
					continue
				}
				w := weight[v] + e.gain*r.ticks
				if k == tickEdge {
					w -= r.gain
				}
				if w > weight[e.to] {
					weight[e.to], from[e.to], kind[e.to] = w, int32(v), int8(k)
					changed = true
				}
			}
		}
		if found, ok := g.cycle(from, kind); ok {
			return found, true
		}
	}
	return rate{}, false
}

// cycle returns the rate of a cycle among the edges by which vertices were reached.
func (g *graph) cycle(from []int32, kind []int8) (rate, bool) {
	seen := make([]int32, len(from))
	for start := range from {
		v := int32(start)
		for v >= 0 && seen[v] == 0 {
			seen[v] = int32(start) + 1
			v = from[v]
		}
		if v < 0 || seen[v] != int32(start)+1 {
			continue
		}
		var r rate
		for w := v; ; {
			r.gain += g.edges[from[w]][kind[w]].gain
			if kind[w] == tickEdge {
				r.ticks++
			}
			if w = from[w]; w == v {
				return r, true
			}
		}
	}
	return rate{}, false
}
