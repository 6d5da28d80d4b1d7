package bench

import (
	"fmt"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
)

// Config says what [Compare] measures. Algorithms, Backends and Limit are required. Of the slices
// below Clients, nil means the default and an empty one leaves that part of the measuring out.
type Config struct {
	Algorithms []weir.Algorithm
	Backends   []*backend.Backend
	Limit      weir.Limit
	Seed       uint64       // of the generated scenarios
	Trace      *trace.Trace // recorded traffic, as one more scenario; may be nil
	Clients    int64        // memory is totalled for so many; 0: it is not
	Flags      []string     // kept in the results; without credentials

	Scenarios []Scenario // default: [Scenarios]
	Events    []int64    // admitted events per key at which memory is measured; default [DefaultEvents]
	Callers   []int      // levels of the closed loop; default [DefaultCallers]

	Keys        int           // keys of the closed loop; default 5,000
	Repetitions int           // of the closed loop, per pair and level; default 3
	Interval    time.Duration // of one repetition; default 100 ms

	Growth *GrowthConfig // how cost grows, stalls and the open loop; nil: not measured

	// Checkpoint, if not nil, is called after each piece of work but the last, from the goroutine that measures.
	// soFar returns what has been measured; what it returns is to be used before Checkpoint returns.
	// Whoever keeps it loses little where a run is killed.
	Checkpoint func(soFar func() *Results)
}

// DefaultEvents returns the numbers of events at which memory is measured. Redis keeps up to 128
// entries of a sorted set in a compact form, hence 128 and 129.
func DefaultEvents() []int64 { return []int64{1, 10, 100, 128, 129, 1000, 10_000} }

// DefaultCallers returns the levels of the closed loop.
func DefaultCallers() []int { return []int{1, 64} }

// Progress is told of each piece of work when it begins: what it is, how many pieces are done, and
// of how many. Calls come one at a time, from the goroutine that measures. Nil is told nothing.
type Progress func(what string, done, total int)

// complete validates c and returns a copy with the defaults filled in.
func (c Config) complete() (Config, error) {
	if err := checkPairs(c.Algorithms, c.Backends, c.Limit); err != nil {
		return c, err
	}
	if c.Scenarios == nil {
		c.Scenarios = Scenarios(c.Limit, c.Seed)
	}
	if c.Trace != nil {
		c.Scenarios = append(c.Scenarios[:len(c.Scenarios):len(c.Scenarios)], Scenario{Name: "trace", Events: c.Trace.Events})
	}
	if c.Events == nil {
		c.Events = DefaultEvents()
	}
	if c.Callers == nil {
		c.Callers = DefaultCallers()
	}
	for _, n := range c.Events {
		if n < 1 || n > maxMemoryEvents {
			return c, fieldError("Config.Events", n, fmt.Sprintf("1 to %d", maxMemoryEvents))
		}
	}
	levels := c.Callers
	if c.Growth != nil {
		var err error
		if c.Growth, err = c.Growth.complete(); err != nil {
			return c, err
		}
		levels = append(levels[:len(levels):len(levels)], c.Growth.Callers...)
	}
	for _, n := range levels {
		if n < 1 || n > maxCallers {
			return c, fieldError("Config.Callers", n, fmt.Sprintf("1 to %d", maxCallers))
		}
	}
	for _, f := range []struct {
		name  string
		value *int
		usual int
	}{{"Config.Keys", &c.Keys, 5000}, {"Config.Repetitions", &c.Repetitions, 3}} {
		if *f.value < 0 {
			return c, fieldError(f.name, *f.value, "1 or more, or 0 for the default")
		}
		if *f.value == 0 {
			*f.value = f.usual
		}
	}
	switch {
	case c.Interval < 0:
		return c, fieldError("Config.Interval", c.Interval, "above 0, or 0 for the default")
	case c.Clients < 0:
		return c, fieldError("Config.Clients", c.Clients, "0 or more")
	case c.Interval == 0:
		c.Interval = 100 * time.Millisecond
	}
	return c, nil
}

const (
	maxMemoryEvents = 1_000_000
	maxCallers      = 10_000
)

// checkPairs finds what makes every pair of a run pointless.
func checkPairs(algorithms []weir.Algorithm, backends []*backend.Backend, limit weir.Limit) error {
	if len(algorithms) == 0 {
		return fmt.Errorf("bench: Algorithms: none: want at least one")
	}
	if len(backends) == 0 {
		return fmt.Errorf("bench: Backends: none: want at least one")
	}
	if err := limit.Validate(); err != nil {
		return err
	}
	for _, a := range algorithms {
		if _, err := a.Shape(limit); err != nil {
			return fmt.Errorf("bench: %s: %w", a, err)
		}
	}
	return nil
}

func fieldError(field string, value any, want string) error {
	return fmt.Errorf("bench: %s: %v: want %s", field, value, want)
}
