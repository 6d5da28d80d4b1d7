package versus

import (
	"fmt"
	"slices"

	"github.com/weirlimits/weir/internal/digits"
)

// ratios sets each of our rows against each peer's on the same store, measure by measure.
func ratios(rows []*Row) (all []Ratio) {
	for _, o := range rows {
		if !o.Ours {
			continue
		}
		for _, p := range rows {
			if p.Ours || p.Store != o.Store {
				continue
			}
			all = append(append(all, speedRatios(o, p)...), memoryRatios(o, p)...)
		}
	}
	return all
}

func speedRatios(o, p *Row) (all []Ratio) {
	for _, a := range o.Speed {
		for _, b := range p.Speed {
			n := min(len(a.rates), len(b.rates))
			if a.Keys != b.Keys || a.Callers != b.Callers || a.NA != "" || b.NA != "" || n == 0 {
				continue
			}
			each := make([]float64, n)
			for i := range each {
				each[i] = a.rates[i] / b.rates[i]
			}
			all = append(all, Ratio{
				Ours: o.Name, Peer: p.Name, Store: o.Store, Measure: a.load() + ": decisions per second",
				Ratio: median(each), Low: slices.Min(each), High: slices.Max(each), Better: median(each) > 1,
			})
		}
	}
	return all
}

func memoryRatios(o, p *Row) (all []Ratio) {
	for _, a := range o.Memory {
		for _, b := range p.Memory {
			if a.Keys != b.Keys || a.Events != b.Events || a.NA != "" || b.NA != "" || a.BytesPerKey <= 0 || b.BytesPerKey <= 0 {
				continue
			}
			ratio := a.BytesPerKey / b.BytesPerKey
			all = append(all, Ratio{
				Ours: o.Name, Peer: p.Name, Store: o.Store, Measure: a.load() + ": bytes per key",
				Ratio: ratio, Low: ratio, High: ratio, Better: ratio < 1,
			})
		}
	}
	return all
}

// load names what the callers do.
func (s *Speed) load() string {
	return fmt.Sprintf("%s, %s", many(s.Keys, "key"), many(s.Callers, "caller"))
}

func (m Memory) load() string {
	return fmt.Sprintf("%s, %s each", many(m.Keys, "key"), many(int(m.Events), "request"))
}

func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return digits.Group(n) + " " + what + "s"
}
