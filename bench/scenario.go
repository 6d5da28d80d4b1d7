package bench

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/trace"
)

// Scenario is a stream of requests in simulated time.
type Scenario struct {
	Name   string
	Events []trace.Event // in order of time; those of one time in the order in which they come
}

// Scenarios returns the generated streams for a limit. The same limit and seed give the same
// streams. For large limits the requests cost more than one place each, so that the number of
// events stays bounded.
func Scenarios(limit weir.Limit, seed uint64) []Scenario {
	return []Scenario{
		boundaryBurst(limit),
		steady("steady-0.8x", limit, seed, 0.8),
		steady("steady-1x", limit, seed, 1),
		steady("steady-2x", limit, seed, 2),
		onOff(limit, seed),
		farBelow(limit, seed),
		lognormal(limit, seed),
		cron(limit, seed),
	}
}

const (
	seededEvents = 6000 // about so many events has a seeded scenario, at most
	maxSpan      = 100 * 365 * 24 * time.Hour
)

// simulatedStart is where simulated time starts: the year 2024, or after it the next start of an
// aligned window.
func simulatedStart(window time.Duration) int64 {
	w := window.Microseconds()
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	return (from + w - 1) / w * w
}

// extent is how a seeded scenario stays within its number of events: fewer windows, then fewer keys,
// then requests of a higher cost.
type extent struct {
	keys, windows int
	cost          int64
}

// usualKeys are the fewest and the most keys of a scenario.
var usualKeys = [2]float64{4, 16}

func extentFor(limit weir.Limit, factor float64, keys [2]float64) extent {
	perWindow := float64(limit.Count) * factor
	e := extent{windows: int(min(max(seededEvents/4/keys[1]/perWindow, 6), 40))}
	e.windows = min(e.windows, int(maxSpan/limit.Window))
	perKey := perWindow * float64(e.windows)
	e.keys = int(min(max(seededEvents/perKey, keys[0]), keys[1]))
	e.cost = max(1, int64(math.Ceil(perKey*float64(e.keys)/seededEvents)))
	return e
}

// scenario lets fill give each key its events and brings all in order.
func (e extent) scenario(name string, limit weir.Limit, seed uint64, fill func(random *rand.Rand, add func(at float64))) Scenario {
	start := simulatedStart(limit.Window)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	s := Scenario{Name: name}
	for k := range e.keys {
		key := fmt.Sprintf("client-%09d", k)
		fill(rand.New(rand.NewPCG(seed, hash.Sum64()+uint64(k))), func(at float64) {
			s.Events = append(s.Events, trace.Event{Time: start + int64(at), Key: key, Cost: e.cost})
		})
	}
	s.sort()
	return s
}

func (s *Scenario) sort() {
	slices.SortStableFunc(s.Events, func(a, b trace.Event) int { return cmp.Compare(a.Time, b.Time) })
}
