package oracle

import "math/big"

// NewGCRA returns the generic cell rate algorithm (ITU-T I.371, virtual scheduling). One place comes back every
// window/limit, a rational number of microseconds, and burst places are there at one instant from idle.
func NewGCRA(limit, window, burst int64) *Model {
	return &Model{&gcra{
		burst:    max(burst, 1),
		emission: big.NewRat(max(window, 1), max(limit, 1)),
	}}
}

type gcra struct {
	burst    int64
	emission *big.Rat // microseconds per place
	arrival  *big.Rat // theoretical arrival time: when all places are back; nil before the first admission
}

// backlog returns how long after t all places are back: max(arrival, t) - t.
func (g *gcra) backlog(t int64) *big.Rat {
	if g.arrival == nil || g.arrival.Cmp(whole(t)) < 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Sub(g.arrival, whole(t))
}

// span returns the time in which n places come back.
func (g *gcra) span(n int64) *big.Rat { return new(big.Rat).Mul(whole(n), g.emission) }

// excess returns by how much the backlog would be above the tolerance, had n been admitted at t.
func (g *gcra) excess(t, n int64) *big.Rat {
	after := g.backlog(t)
	after.Add(after, g.span(n))
	return after.Sub(after, g.span(g.burst))
}

func (g *gcra) capacity() int64 { return g.burst }

func (g *gcra) fits(t, n int64) bool { return g.excess(t, n).Sign() <= 0 }

func (g *gcra) remaining(t int64) int64 {
	free := g.excess(t, 0)
	return floor(free.Neg(free).Quo(free, g.emission))
}

// wait is the excess itself: the backlog falls by one microsecond in each.
func (g *gcra) wait(t, n int64) int64 { return ceil(g.excess(t, n)) }

func (g *gcra) reset(t int64) int64 { return ceil(g.backlog(t)) }

func (g *gcra) record(t, n int64) {
	after := g.backlog(t)
	after.Add(after, g.span(n))
	g.arrival = after.Add(after, whole(t))
}

// clone may share the numbers: they are replaced, never changed.
func (g *gcra) clone() rule {
	c := *g
	return &c
}
