package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// lead is the answer in one paragraph: who keeps to the limit, and what each store offers for that. It is
// empty where no precision was measured.
func lead(r *bench.Results) string {
	var names, keep []string
	most := map[string]int64{}
	for _, res := range r.Results {
		w := worstOf(res.Precision)
		if w.events == 0 {
			continue
		}
		if _, ok := most[res.Algorithm]; !ok {
			names = append(names, res.Algorithm)
		}
		most[res.Algorithm] = max(most[res.Algorithm], w.most)
	}
	if len(names) == 0 {
		return ""
	}
	var over string
	for _, name := range names {
		if most[name] <= r.Limit.Count {
			keep = append(keep, printable(name))
		} else if over == "" || most[name] > most[over] {
			over = name
		}
	}
	text := fmt.Sprintf("At %s, %d of %s never let more than %s through in any window", printable(r.Limit.Text), len(keep),
		digits.Plural(int64(len(names)), "algorithm"), digits.Group(r.Limit.Count))
	if len(keep) > 0 {
		text += ": " + list(keep)
	}
	text += "."
	if over != "" {
		text += fmt.Sprintf(" At worst, %s let %s.", printable(over), digits.Group(most[over]))
	}
	var smallest []string
	for _, store := range storesOf(r) {
		if s := storeLead(r, store); s != "" {
			smallest = append(smallest, s)
		}
	}
	if len(smallest) > 0 {
		text += fmt.Sprintf(" Smallest of those that keep to the limit, at %s per key: %s.", digits.Plural(commonEvents(r), "event"), strings.Join(smallest, "; "))
	}
	return text
}

// storeLead names of one store the smallest algorithm that keeps to the limit, and the smallest that also
// denies nothing without need.
func storeLead(r *bench.Results, store string) string {
	type choice struct {
		name   string
		bytes  float64
		denied float64
	}
	events := commonEvents(r)
	var all []choice
	for _, res := range r.Results {
		bytes, why := heldBytes(res, events)
		w := worstOf(res.Precision)
		if res.Store == store && w.events > 0 && w.most <= r.Limit.Count && why == "" && bytes > 0 {
			all = append(all, choice{printable(res.Algorithm), bytes, w.denied()})
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(a.bytes, b.bytes) })
	small := all[0]
	text := fmt.Sprintf("on %s, %s with %s bytes", placeOf(store), small.name, bytesOf(small.bytes))
	if small.denied == 0 {
		return text + " and no false denial"
	}
	text += fmt.Sprintf(" and %s of all requests falsely denied", share(small.denied))
	if i := slices.IndexFunc(all, func(c choice) bool { return c.denied == 0 }); i > 0 {
		text += fmt.Sprintf(", or %s with %s and none", all[i].name, bytesOf(all[i].bytes))
	}
	return text
}
