package ask

import (
	"fmt"
	"slices"
	"strings"
)

// Candidate is one algorithm, held against all that was answered.
type Candidate struct {
	Algorithm  string `json:"algorithm"`
	Consistent bool   `json:"consistent"`
	// Detail is what is known of its options where it is consistent, and otherwise what refutes it.
	Detail string `json:"detail,omitempty"`
}

// named is a client's history and what the run did with it.
type named struct {
	name string
	history
}

// judge holds each algorithm against the histories of all clients. An algorithm is refuted only if no times of
// decision, within what was observed, and no phase and burst explain the answers.
func judge(limit, window int64, seen []named, atOnce int64) []Candidate {
	phases := cells(seen, window)
	return []Candidate{
		aligned("fixed-window", phases, seen, func(c cell, h history) int {
			return explains(fixedWindow{limit, window, c}, h)
		}),
		plain("fixed-window-first-hit", seen, func(h history) int { return explains(firstHit{limit, window}, h) }),
		aligned("sliding-counter", phases, seen, func(c cell, h history) int {
			return explains(slidingCounter{limit, window, c}, h)
		}),
		bursts(limit, window, seen, atOnce),
		plain("sliding-log", seen, func(h history) int { return logExplains(limit, window, h) }),
	}
}

// refuted tells where the first contradiction lies; "" if there is none.
func refuted(seen []named, explains func(history) int) string {
	for _, n := range seen {
		if i := explains(n.history); i >= 0 {
			return n.contradiction(i)
		}
	}
	return ""
}

func (n named) contradiction(i int) string {
	g := n.history[i]
	at := (g.at.lo + g.at.hi) / 2
	return fmt.Sprintf("%s: %d admitted and %d denied, %s after its first request", n.name, g.allowed, g.denied,
		micros(max(0, at-n.history[0].at.lo)))
}

func plain(name string, seen []named, explains func(history) int) Candidate {
	why := refuted(seen, explains)
	return Candidate{Algorithm: name, Consistent: why == "", Detail: why}
}

// aligned tries all phases: one of them must explain all clients.
func aligned(name string, phases []cell, seen []named, explains func(cell, history) int) Candidate {
	at := func(c cell) func(history) int { return func(h history) int { return explains(c, h) } }
	why := refuted(seen, at(cell{}))
	if why == "" {
		return Candidate{Algorithm: name, Consistent: true, Detail: "windows aligned to the Unix epoch"}
	}
	for _, c := range phases {
		if refuted(seen, at(c)) == "" {
			return Candidate{
				Algorithm: name, Consistent: true,
				Detail: "windows begin " + micros(c.lo) + " after those aligned to the Unix epoch",
			}
		}
	}
	return Candidate{Algorithm: name, Detail: why}
}

// manyCells is how many phases are tried; wider cells refute less, and nothing wrongly.
const manyCells = 300

// cells divides all phases at the edges of what was observed.
func cells(seen []named, window int64) []cell {
	edges := []int64{0, window}
	for _, n := range seen {
		for _, g := range n.history {
			for _, t := range []int64{g.at.lo, g.at.hi} {
				edges = append(edges, t-floorDiv(t, window)*window)
			}
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	step := (len(edges) + manyCells - 1) / manyCells
	var all []cell
	for i := 0; i+1 < len(edges); i += step {
		all = append(all, cell{edges[i], edges[min(i+step, len(edges)-1)]})
	}
	return all
}

// bursts tries each burst that what came at once from idle leaves possible.
func bursts(limit, window int64, seen []named, atOnce int64) Candidate {
	var fit []int64
	why := "nothing was admitted"
	for burst := int64(1); burst <= atOnce; burst++ {
		w := refuted(seen, func(h history) int { return explains(gcra{limit, window, burst}, h) })
		if w == "" {
			fit = append(fit, burst)
		}
		if w != "" && (burst == 1 || burst == limit) {
			why = w
		}
	}
	c := Candidate{Algorithm: "gcra", Consistent: len(fit) > 0, Detail: why}
	if !c.Consistent {
		return c
	}
	c.Detail = fmt.Sprintf("burst %d", fit[0])
	if last := fit[len(fit)-1]; last > fit[0] {
		c.Detail = fmt.Sprintf("burst %d to %d", fit[0], last)
	}
	if len(fit) == 1 && fit[0] != limit {
		c.Algorithm = fmt.Sprintf("gcra,burst=%d", fit[0])
	}
	return c
}

// Name is the algorithm that alone is consistent with what was seen, or "" if none or several are.
func (r *Report) Name() string {
	if names := r.consistent(); len(names) == 1 && !r.Unlimited {
		return names[0]
	}
	return ""
}

func (r *Report) consistent() (names []string) {
	for _, c := range r.Candidates {
		if c.Consistent {
			names = append(names, c.Algorithm)
		}
	}
	return names
}

// Conclusion says in a line which algorithms are consistent with what was seen.
func (r *Report) Conclusion() string {
	names := r.consistent()
	switch {
	case r.Allowed == 0:
		return "cannot tell: nothing was admitted"
	case r.Unlimited:
		return fmt.Sprintf("no limit seen: all of %d requests at once were admitted", r.AtOnce)
	case r.TooSlow:
		return fmt.Sprintf("cannot tell: answers take %s, too long beside a window of %s", micros(r.TakesUS), micros(r.Limit.WindowUS))
	case len(names) == 0:
		return fmt.Sprintf("none of the known algorithms with the limit %s explains what was seen", r.Limit.Text)
	case len(names) > 1:
		return "cannot tell: " + strings.Join(names, ", ") + " are all consistent with what was seen"
	default:
		return names[0] + " alone is consistent with what was seen"
	}
}
