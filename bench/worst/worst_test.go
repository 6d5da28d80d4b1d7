package worst_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/worst"
)

// claim is what is said of an algorithm, as a formula of L and W in ticks. It does not
// come from the algorithm's own Guarantee, which is held to it.
type claim struct {
	name         string
	max, deficit func(l int64) int64
	late         func(w int64) int64 // how long a deficit can last, in ticks; nil: no bound
	least, most  int64               // the smallest and the largest L to explore; 0: any
}

func times(k, plus int64) func(int64) int64 { return func(l int64) int64 { return k*l + plus } }
func just(n int64) func(int64) int64        { return func(int64) int64 { return n } }

var (
	limit = times(1, 0)
	none  = just(0)
)

// claims are all of them. They are explored up to the limit most.
func claims(most int64) []claim {
	all := []claim{
		{name: "fixed-window", max: times(2, 0), deficit: none},
		{name: "fixed-window-first-hit", max: times(2, -1), deficit: none},
		{name: "sliding-counter", max: times(2, -1), deficit: limit},
		{name: "gcra", max: times(2, -1), deficit: none},
		{name: "gcra,burst=1", max: limit, deficit: times(1, -1), most: 3}, // beyond: see TestABucketOfOneToken
		{name: "gcra,burst=2", max: times(1, 1), deficit: func(l int64) int64 { return max(0, l-2) }},
		{name: "gcra,burst=4", max: times(1, 3), deficit: func(l int64) int64 { return max(0, l-4) }},
		{name: "sliding-log", max: limit, deficit: none},
		{name: "ring-log", max: limit, deficit: none},
		{name: "ring-log,denied=count", max: limit, deficit: limit, most: most - 1}, // denials too make states
		{name: "packed-log", max: limit, deficit: none},
		{name: "packed-log,tick=1us", max: limit, deficit: none},
		{name: "packed-log,tick=2us", max: limit, deficit: limit, late: just(1)},
		{name: "packed-log,tick=3us", max: limit, deficit: limit, late: just(2)},
		{name: "packed-log,block=2", max: limit, deficit: just(1), least: 2},
		{name: "packed-log,block=3", max: limit, deficit: just(2), least: 3},
		{name: "packed-log,tick=2us,block=2", max: limit, deficit: limit, least: 2},
	}
	for _, k := range []struct {
		name    string
		buckets int64
	}{
		{"bucketed-window,buckets=1", 1},
		{"bucketed-window,buckets=2", 2},
		{"bucketed-window,buckets=3", 3},
		{"bucketed-window,buckets=4", 4},
		{"bucketed-window,buckets=7", 7},
	} {
		all = append(all, claim{name: k.name, max: limit, deficit: limit, late: func(w int64) int64 {
			sub := (w + k.buckets - 1) / k.buckets
			return ((w+sub-1)/sub+1)*sub - w // W/K where K divides W, below 2 of that elsewhere
		}})
	}
	return all
}

// guarantee is the claim as data.
func (c claim) guarantee(l, w int64) weir.Guarantee {
	g := weir.Guarantee{MaxInWindow: c.max(l), Deficit: c.deficit(l)}
	if c.late != nil {
		g.DeficitFor = time.Duration(c.late(w)) * time.Microsecond
	}
	return g
}

func parse(t *testing.T, name string) weir.Algorithm {
	a, err := algorithms.Parse(name)
	require.NoError(t, err)
	return a
}

func declared(t *testing.T, a weir.Algorithm, l, w int64) weir.Guarantee {
	shape, err := a.Shape(weir.Limit{Count: l, Window: time.Duration(w) * time.Microsecond})
	require.NoError(t, err)
	g := shape.Guarantee
	g.DeniedCount = false // no figure
	return g
}

func soak() bool { return os.Getenv("WEIR_SOAK") != "" }

// Every reachable state, every arrival pattern: where a window has 2L ticks the worst
// case is exactly what the algorithm declares, and what is claimed of it; and each
// figure moved by one would be found out.
func TestWorstCasesAreWhatIsDeclared(t *testing.T) {
	most := int64(3)
	if soak() {
		most = 4
	}
	t.Logf("explored unless told otherwise: L = 1 to %d, W = 2L and 2L+1 ticks, all patterns of costs 1 to 3", most)
	for _, c := range claims(most) {
		t.Run(c.name, func(t *testing.T) {
			a, explored := parse(t, c.name), 0
			if c.most == 0 {
				c.most = most
			}
			for l := max(c.least, 1); l <= c.most; l++ {
				for w := 2 * l; w <= 2*l+1; w++ {
					r, err := worst.Search(a, l, w)
					if wrong := (*weir.FieldError)(nil); errors.As(err, &wrong) {
						continue // more buckets, or a longer tick, than so short a window has
					}
					require.NoError(t, err)
					explored++
					g := declared(t, a, l, w)
					require.Equal(t, c.guarantee(l, w), g, "%d per %d ticks", l, w)
					require.NoError(t, r.Check(g), "%s\n%s", r.MaxLine(), r.DeficitLine())
					requireStrong(t, r, g)
					require.LessOrEqual(t, r.LongRun, 1.0, "more than the exact log in the long run")
					require.LessOrEqual(t, r.Saturated, r.LongRun)
					t.Logf("L=%d W=%d: %d states; %s; %s", l, w, r.States, r.MaxLine(), r.DeficitLine())
				}
			}
			require.Positive(t, explored)
		})
	}
}

// requireStrong moves each figure by one.
func requireStrong(t *testing.T, r worst.Result, g weir.Guarantee) {
	for _, by := range []int64{-1, 1} {
		moved := g
		moved.MaxInWindow += by
		require.Error(t, r.Check(moved))
		moved = g
		moved.Deficit += by
		require.Error(t, r.Check(moved))
		moved = g
		moved.DeficitFor += time.Duration(by) * time.Microsecond
		require.Error(t, r.Check(moved))
	}
}

// Where a window has fewer ticks, the worst case may not be reached; it is never
// exceeded.
func TestShorterWindowsNeverExceedWhatIsDeclared(t *testing.T) {
	const l = 3
	for _, c := range claims(l) {
		t.Run(c.name, func(t *testing.T) {
			a, explored := parse(t, c.name), 0
			for w := int64(1); w < 2*l; w++ {
				r, err := worst.Search(a, l, w)
				if wrong := (*weir.FieldError)(nil); errors.As(err, &wrong) {
					continue
				}
				require.NoError(t, err)
				explored++
				g := declared(t, a, l, w)
				require.LessOrEqual(t, r.MaxInWindow, g.MaxInWindow, r.MaxLine())
				require.LessOrEqual(t, r.Deficit, g.Deficit, r.DeficitLine())
				if g.DeficitFor > 0 {
					require.LessOrEqual(t, r.DeficitFor, g.DeficitFor)
				}
			}
			if c.name != "bucketed-window,buckets=7" {
				require.Positive(t, explored)
			}
		})
	}
}

// The default of 60 sub-windows needs a window of as many ticks.
func TestBucketedWindowByDefault(t *testing.T) {
	for _, w := range []int64{90, 120} {
		r, err := worst.Search(algorithms.BucketedWindow(nil), 2, w)
		require.NoError(t, err)
		g := declared(t, algorithms.BucketedWindow(nil), 2, w)
		require.NoError(t, r.Check(g))
		requireStrong(t, r, g)
		t.Logf("L=2 W=%d: %d states; too early by at most %s", w, r.States, r.DeficitFor)
	}
}

// A bucket of one token keeps requests W/L apart, rounded up to a tick. Where that does
// not go into W, a window of few ticks has no room for L: 4 per 9 ticks admits every
// third tick, three in any window.
func TestABucketOfOneToken(t *testing.T) {
	a := parse(t, "gcra,burst=1")
	for l := int64(1); l <= 4; l++ {
		for w := int64(1); w <= 3*l; w++ {
			apart := (w + l - 1) / l
			room := int64(0)
			for at := int64(0); at < w; at += apart {
				room++
			}
			r, err := worst.Search(a, l, w)
			require.NoError(t, err)
			g := declared(t, a, l, w)
			require.Equal(t, weir.Guarantee{MaxInWindow: room, Deficit: l - 1}, g, "%d per %d ticks", l, w)
			require.NoError(t, r.Check(g))
			requireStrong(t, r, g)
		}
	}
	r, err := worst.Search(a, 4, 9)
	require.NoError(t, err)
	require.EqualValues(t, 3, r.MaxInWindow)
}

// What the best client gets in the long run, and what one gets that never stops
// asking, in parts of L per W.
func TestLongRun(t *testing.T) {
	for _, c := range []struct {
		name            string
		l, w            int64
		best, insistent float64
	}{
		{"fixed-window", 3, 6, 1, 1},
		{"fixed-window-first-hit", 3, 6, 1, 1},
		{"sliding-counter", 3, 6, 2. / 3, 2. / 3}, // L-1 a window: what came in the one before weighs to its end
		{"sliding-counter", 2, 6, 1. / 2, 1. / 2},
		{"gcra", 3, 6, 1, 1},
		{"gcra,burst=1", 3, 7, 7. / 9, 7. / 9}, // without room to wait, every rounding up of W/L is lost
		{"gcra,burst=2", 3, 7, 1, 1},
		{"sliding-log", 3, 7, 1, 1},
		{"ring-log,denied=count", 3, 5, 1, 0}, // who does not pause stays denied
		{"packed-log,block=2", 3, 7, 1, 1},
		{"packed-log,tick=2us", 3, 6, 1, 1},
		{"packed-log,tick=2us", 3, 7, 7. / 8, 7. / 8},
		{"bucketed-window,buckets=1", 3, 6, 1. / 2, 1. / 2},
		{"bucketed-window,buckets=2", 3, 6, 2. / 3, 2. / 3},
		{"bucketed-window,buckets=3", 3, 6, 3. / 4, 3. / 4},
	} {
		r, err := worst.Search(parse(t, c.name), c.l, c.w)
		require.NoError(t, err)
		require.InDelta(t, c.best, r.LongRun, 1e-9, "%s %d/%d", c.name, c.l, c.w)
		require.InDelta(t, c.insistent, r.Saturated, 1e-9, "%s %d/%d", c.name, c.l, c.w)
	}
}

// A sequence reads as one line.
func TestLines(t *testing.T) {
	r, err := worst.Search(algorithms.FixedWindow(), 3, 4)
	require.NoError(t, err)
	require.Equal(t, "t=3: 3 admitted, t=4: 3 admitted: 6 in (0,4]", r.MaxLine())
	require.Empty(t, r.DeficitLine())
	require.Equal(t, []worst.Step{{Time: 3, Cost: 3, Allowed: true}, {Time: 4, Cost: 3, Allowed: true}}, r.MaxSequence)

	r, err = worst.Search(algorithms.SlidingCounter(), 3, 6)
	require.NoError(t, err)
	require.Equal(t, "t=5: 3 admitted, t=10: 2 admitted: 5 in (4,10]", r.MaxLine())
	require.Equal(t, "t=0: 3 admitted, t=6: 1 denied: 3 free in (0,6]", r.DeficitLine())
}

func TestWhatCannotBeSearched(t *testing.T) {
	for _, c := range []struct {
		name string
		l, w int64
		want string
	}{
		{"gcra", 0, 5, "weir: limit count: 0: want 1 to 1000000000"},
		{"gcra", 3, 0, "weir: window: 0 ticks: want 1 to 10000"},
		{"bucketed-window", 3, 7, "weir: bucketed-window buckets: 60: want 1 to 7"},
	} {
		_, err := worst.Search(parse(t, c.name), c.l, c.w)
		require.EqualError(t, err, c.want)
	}
}
