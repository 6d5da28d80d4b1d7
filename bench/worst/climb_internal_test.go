package worst

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

// For limits too large to explore, an adversary looks for the worst: it plays a plan of
// a few moves, changes one, and keeps the change where it did no less harm.

// move is a part of a plan.
type move struct {
	kind moveKind
	n    int64
}

type moveKind int

const (
	wait   moveKind = iota // n ticks
	ask                    // for n
	drain                  // take all that is there, and ask for one more
	greedy                 // drain for n ticks, whenever one more is to be had
	moveKinds
)

// harm is what a plan did.
type harm struct{ most, deficit, late int64 }

// attack plays plans against a machine.
type attack struct {
	m     *machine
	now   int64
	state []byte
	past  []struct{ at, cost int64 }
	live  int   // the first in past that is in the window
	sum   int64 // of those
	done  harm
}

// play does one plan from a key that was never used.
func play(m *machine, plan []move) harm {
	a := &attack{m: m, now: m.base}
	for _, mv := range plan {
		switch mv.kind {
		case wait:
			a.now += mv.n
		case ask:
			a.take(mv.n)
		case drain:
			a.drain()
		case greedy:
			for end := a.now + mv.n; a.now < end; {
				a.now = min(a.now+a.drain(), end)
			}
			a.drain()
		}
	}
	return a.done
}

// drain returns after how many ticks the next one can be had.
func (a *attack) drain() int64 {
	for {
		if n := a.run(0).Remaining; n > 0 && a.take(min(n, a.m.capacity)).Allowed {
			continue
		}
		if r := a.take(1); !r.Allowed {
			return r.RetryAfter
		}
	}
}

func (a *attack) run(cost int64) store.Reply {
	res := a.m.step.Func(a.state, store.Args{Now: a.now, Cost: cost, Params: a.m.params})
	if res.State != nil {
		a.state = res.State
	}
	return res.Reply
}

func (a *attack) take(cost int64) store.Reply {
	if cost > a.m.capacity {
		return store.Reply{}
	}
	r := a.run(cost)
	for a.live < len(a.past) && a.past[a.live].at <= a.now-a.m.window {
		a.sum -= a.past[a.live].cost
		a.live++
	}
	if r.Allowed {
		a.past = append(a.past, struct{ at, cost int64 }{a.now, cost})
		a.sum += cost
		a.done.most = max(a.done.most, a.sum)
		return r
	}
	if free := a.m.limit - a.sum; cost == 1 && free > 0 {
		a.done.deficit = max(a.done.deficit, free)
		// The newest of those that would make the denial right has left the window.
		for k, left := a.live, free; k > 0 && left > 0; {
			k--
			if left -= a.past[k].cost; left <= 0 {
				a.done.late = max(a.done.late, a.now-a.past[k].at-a.m.window+1)
			}
		}
	}
	return r
}

// draw returns a random move; times are near those at which an algorithm turns.
func draw(rng *rand.Rand, m *machine) move {
	turns := []int64{1, m.period, m.window, m.window / m.limit, m.window / 2, m.window - m.period, rng.Int64N(2 * m.window)}
	t := max(0, turns[rng.IntN(len(turns))]+rng.Int64N(3)-1)
	switch kind := moveKind(rng.IntN(int(moveKinds))); kind {
	case ask:
		return move{kind, []int64{1, 2, m.limit - 1, m.limit, 1 + rng.Int64N(m.limit)}[rng.IntN(5)]}
	case greedy:
		return move{kind, min(t, 2*m.window)}
	default:
		return move{kind, t}
	}
}

// change returns a plan that differs in one move.
func change(rng *rand.Rand, m *machine, plan []move) []move {
	plan = slices.Clone(plan)
	i := rng.IntN(len(plan))
	switch kind := rng.IntN(4); {
	case kind == 0 && len(plan) < 10:
		return slices.Insert(plan, i, draw(rng, m))
	case kind == 1 && len(plan) > 2:
		return slices.Delete(plan, i, i+1)
	case kind == 2:
		plan[i].n = max(0, plan[i].n+rng.Int64N(5)-2)
	default:
		plan[i] = draw(rng, m)
	}
	return plan
}

// climb returns the most harm of so many plans. It looks for one kind of harm at a time.
func climb(rng *rand.Rand, m *machine, plans int, check func(harm, []move)) (worst harm) {
	for _, figure := range []func(harm) int64{
		func(h harm) int64 { return h.most },
		func(h harm) int64 { return h.deficit },
		func(h harm) int64 { return h.late },
	} {
		var plan []move
		for range 5 {
			plan = append(plan, draw(rng, m))
		}
		best := play(m, plan)
		for range plans {
			other := change(rng, m, plan)
			h := play(m, other)
			check(h, other)
			worst = harm{max(worst.most, h.most), max(worst.deficit, h.deficit), max(worst.late, h.late)}
			if figure(h) >= figure(best) {
				best, plan = h, other
			}
		}
	}
	return worst
}

func machineOf(t require.TestingT, a weir.Algorithm, l weir.Limit) *machine {
	require.NoError(t, l.Validate())
	m, err := newMachine(a, l)
	require.NoError(t, err)
	return m
}

// exceeds says by what a plan breaks the word of an algorithm; "" if it does not.
func exceeds(g weir.Guarantee, h harm) string {
	switch {
	case h.most > g.MaxInWindow:
		return fmt.Sprintf("%d in a window, declared %d", h.most, g.MaxInWindow)
	case h.deficit > g.Deficit:
		return fmt.Sprintf("denied with %d free, declared %d", h.deficit, g.Deficit)
	case g.DeficitFor > 0 && h.late > g.DeficitFor.Microseconds():
		return fmt.Sprintf("denied %dus too long, declared %s", h.late, g.DeficitFor)
	}
	return ""
}

// drawLarge draws an algorithm with options that go with a large limit.
func drawLarge(t *rapid.T, l weir.Limit) weir.Algorithm {
	a := rapid.SampledFrom(algorithms.All()).Draw(t, "algorithm")
	switch a.Name() {
	case "gcra":
		return algorithms.GCRA(&algorithms.GCRAOptions{Burst: rapid.Int64Range(1, 2*l.Count).Draw(t, "burst")})
	case "bucketed-window":
		return algorithms.BucketedWindow(&algorithms.BucketedWindowOptions{Buckets: rapid.Int64Range(1, 100).Draw(t, "buckets")})
	case "packed-log":
		return algorithms.PackedLog(&algorithms.PackedLogOptions{
			Tick:  time.Duration(rapid.Int64Range(1, 300).Draw(t, "tick")) * time.Microsecond,
			Block: rapid.Int64Range(1, l.Count/2).Draw(t, "block"),
		})
	case "ring-log":
		return algorithms.RingLog(&algorithms.RingLogOptions{CountDenied: rapid.Bool().Draw(t, "count denied")})
	}
	return a
}

// Whatever the adversary finds for large limits, the declared bounds hold. With
// WEIR_SOAK set it looks for five minutes.
func TestNoAdversaryExceedsWhatIsDeclared(t *testing.T) {
	end := time.Now()
	if os.Getenv("WEIR_SOAK") != "" {
		end = end.Add(5 * time.Minute)
	}
	for first := true; first || time.Now().Before(end); first = false {
		rapid.Check(t, func(t *rapid.T) {
			l := weir.Limit{
				Count:  rapid.Int64Range(50, 1000).Draw(t, "limit"),
				Window: time.Duration(rapid.Int64Range(1000, 60_000).Draw(t, "window")) * time.Microsecond,
			}
			a := drawLarge(t, l)
			m := machineOf(t, a, l)
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			climb(rng, m, 40, func(h harm, plan []move) {
				require.Empty(t, exceeds(m.guarantee, h), "%s %s: %v", a, l, plan)
			})
		})
	}
}

// The adversary is no straw man: it gets to what is declared, so a bound that were one
// lower would not stand.
func TestTheAdversaryReachesWhatIsDeclared(t *testing.T) {
	const seed = 1
	for _, name := range []string{
		"fixed-window", "fixed-window-first-hit", "sliding-counter", "bucketed-window", "gcra", "gcra,burst=20", "sliding-log",
		"ring-log", "ring-log,denied=count", "packed-log", "packed-log,tick=50us", "packed-log,block=10",
	} {
		t.Run(name, func(t *testing.T) {
			a, err := algorithms.Parse(name)
			require.NoError(t, err)
			m := machineOf(t, a, weir.Limit{Count: 100, Window: 3 * time.Millisecond})
			h := climb(rand.New(rand.NewPCG(seed, 0)), m, 1000, func(harm, []move) {})
			g := m.guarantee
			require.Empty(t, exceeds(g, h))
			require.Equal(t, g.MaxInWindow, h.most)
			require.Equal(t, g.Deficit, h.deficit)
			if g.DeficitFor > 0 {
				require.Equal(t, g.DeficitFor.Microseconds(), h.late)
			}
			t.Logf("seed %d: %d of %d in a window, %d of %d free, %d of %dus too long", seed,
				h.most, g.MaxInWindow, h.deficit, g.Deficit, h.late, g.DeficitFor.Microseconds())
		})
	}
}
