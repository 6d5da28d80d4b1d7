package choose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/digits"
)

// Want is what is asked for.
type Want struct {
	// Limits is the limit and, behind it, further layers on the same key, all of which must hold.
	Limits []weir.Limit
	// Aligned tells that the limit is meant for windows aligned to the Unix epoch, as quotas are billed: each UTC minute,
	// hour or day. Then a fixed window is exact.
	Aligned bool
	// Clients is how many have a key at the same time: those that were seen within about a window.
	Clients int64
	// Memory is how many bytes they may take; zero is no bound.
	Memory int64
	// Over is how much beyond the limit any window may see admitted, as a part of the limit: 0.05 is 5 %; [AnyOver]
	// tolerates any bound.
	Over float64
	// Deny is how much of the limit may be free, or for how much of the window, when a request is denied all the same;
	// as a part, 0 to 1. 1 tolerates whatever an algorithm does.
	Deny float64
	// Cost is the most that one request takes of the limit; zero means 1.
	Cost int64
	// Keys is to how many keys one request is charged, such as 2 for its address and its account; zero means 1.
	Keys int
	// Cluster tells that keys lie on several servers, as in a Redis Cluster.
	Cluster bool
	// Held is how much of the limit each of a sample of clients uses in its busiest window, as a trace
	// tells. From it the expected memory comes; without it each client is taken to use all.
	Held []int64
	// Seen are errors seen on the caller's own traffic, by [weir.Algorithm]'s String. They take the place of those of
	// the generated scenarios.
	Seen map[string]Errors
}

func (w Want) withDefaults() Want {
	if w.Cost == 0 {
		w.Cost = 1
	}
	if w.Keys == 0 {
		w.Keys = 1
	}
	return w
}

// AnyOver is for [Want.Over]: every bound is tolerated.
const AnyOver = 1e9

// mostClients is far above what any memory holds, and far below where bytes overflow.
const mostClients = 1e12

func (w Want) check() error {
	wrong := func(field string, value any, want string) error {
		return &weir.FieldError{Field: field, Value: fmt.Sprint(value), Want: want}
	}
	if len(w.Limits) == 0 {
		return wrong("limits", "none", "at least one")
	}
	for _, l := range w.Limits {
		if err := l.Validate(); err != nil {
			return err
		}
	}
	switch {
	case w.Clients < 1 || w.Clients > mostClients:
		return wrong("clients", w.Clients, "1 to 1000000000000")
	case w.Memory < 0:
		return wrong("memory", w.Memory, "bytes above 0, or 0 for no bound")
	case !(w.Over >= 0 && w.Over <= AnyOver):
		return wrong("over", w.Over, "a part of the limit, 0 or more: 0.05 is 5 %")
	case !(w.Deny >= 0 && w.Deny <= 1):
		return wrong("deny", w.Deny, "a part of the limit, 0 to 1: 0.05 is 5 %")
	case w.Cost < 1 || w.Cost > w.least():
		return wrong("cost", w.Cost, "1 to the limit, "+strconv.FormatInt(w.least(), 10))
	case w.Keys < 1 || w.Keys > 16:
		return wrong("keys", w.Keys, "1 to 16")
	case slices.ContainsFunc(w.Held, func(n int64) bool { return n < 0 }):
		return wrong("held", slices.Min(w.Held), "0 or more of the limit")
	}
	return nil
}

// least is the smallest count of all layers.
func (w Want) least() int64 {
	n := w.Limits[0].Count
	for _, l := range w.Limits {
		n = min(n, l.Count)
	}
	return n
}

// Tolerance is what is tolerated, as the program's flag has it: "over=5%,deny=0".
func (w Want) Tolerance() string {
	part := func(p, all float64) string {
		switch {
		case p == 0:
			return "0"
		case p >= all:
			return "any"
		default:
			return strings.ReplaceAll(digits.Percent(p), " ", "")
		}
	}
	return "over=" + part(w.Over, AnyOver) + ",deny=" + part(w.Deny, 1)
}

func (w Want) limit() weir.Limit { return w.Limits[0] }

// slowest is the layer that refills at the lowest rate: what a client keeps to that uses all it may.
func (w Want) slowest() weir.Limit {
	rate := func(l weir.Limit) float64 { return float64(l.Count) / float64(l.Window) }
	slow := w.Limits[0]
	for _, l := range w.Limits {
		if rate(l) < rate(slow) {
			slow = l
		}
	}
	return slow
}
