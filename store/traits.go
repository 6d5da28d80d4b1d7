package store

import (
	"strings"
	"time"
)

// Capability is a set of things that a store does atomically.
type Capability uint16

// The capabilities, one for each interface.
const (
	CapCounter   Capability = 1 << iota // [Counter]
	CapSwap                             // [Swapper]
	CapList                             // [List]
	CapSortedSet                        // [SortedSet]
	CapScript                           // [Scripter]
	CapClock                            // [Clock]
	CapFootprint                        // [Footprint]

	capEnd
)

var capabilityNames = [...]string{
	"counter", "compare-and-swap", "list", "sorted set", "script", "clock", "footprint",
}

// Has reports whether c holds all of want.
func (c Capability) Has(want Capability) bool { return c&want == want }

// Each returns the single capabilities in c, in their fixed order.
func (c Capability) Each() []Capability {
	var all []Capability
	for one := CapCounter; one < capEnd; one <<= 1 {
		if c.Has(one) {
			all = append(all, one)
		}
	}
	return all
}

// String names the capabilities, joined by " + "; the empty set is "nothing".
func (c Capability) String() string {
	var names []string
	for i, name := range capabilityNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, " + ")
}

// Implemented returns the capabilities whose interfaces s implements. A truthful
// store has the same set in its traits.
func Implemented(s Store) Capability {
	var c Capability
	if _, ok := s.(Counter); ok {
		c |= CapCounter
	}
	if _, ok := s.(Swapper); ok {
		c |= CapSwap
	}
	if _, ok := s.(List); ok {
		c |= CapList
	}
	if _, ok := s.(SortedSet); ok {
		c |= CapSortedSet
	}
	if _, ok := s.(Scripter); ok {
		c |= CapScript
	}
	if _, ok := s.(Clock); ok {
		c |= CapClock
	}
	if _, ok := s.(Footprint); ok {
		c |= CapFootprint
	}
	return c
}

// ClockSource tells whose time a store's own decisions are made in.
type ClockSource uint8

const (
	// CallerClock: the store tells no time; each caller brings its own.
	CallerClock ClockSource = iota
	// ProcessClock: the store lives in this process and uses its clock.
	ProcessClock
	// ServerClock: the store's server has one clock for all callers.
	ServerClock
)

// String returns "caller", "process" or "server".
func (c ClockSource) String() string {
	switch c {
	case ProcessClock:
		return "process"
	case ServerClock:
		return "server"
	default:
		return "caller"
	}
}

// Traits is what a store says of itself.
type Traits struct {
	Name         string        // short, for tables and errors: "redis"
	Capabilities Capability    // what it does atomically
	Clock        ClockSource   // whose time rules
	TTLGrain     time.Duration // the tick on which keys expire
	MaxTTL       time.Duration // the longest TTL it keeps
	MaxKey       int           // the longest key in bytes that it carries unhashed; 0: any
	MaxValue     int           // the largest value in bytes
	MaxCounter   int64         // the largest count
	Evicts       bool          // it may drop live keys when memory is short
}

// Class names the three kinds of backend that algorithms distinguish.
type Class uint8

// The classes, from the least to the most able.
const (
	ClassNone    Class = iota // no capability that an algorithm can use
	ClassCounter              // INCR-only: a counter and no more
	ClassSwap                 // CAS: compare-and-swap on whole values
	ClassScript               // ZSET + scripting: runs steps next to the data
)

// String returns the class as tables print it.
func (c Class) String() string {
	switch c {
	case ClassCounter:
		return "INCR-only"
	case ClassSwap:
		return "CAS"
	case ClassScript:
		return "ZSET + scripting"
	default:
		return "none"
	}
}

// Class derives the store's class from its capabilities.
func (t Traits) Class() Class {
	switch c := t.Capabilities; {
	case c.Has(CapScript | CapSortedSet):
		return ClassScript
	case c.Has(CapSwap):
		return ClassSwap
	case c.Has(CapCounter):
		return ClassCounter
	default:
		return ClassNone
	}
}
