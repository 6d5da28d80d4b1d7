package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// Difference is what changed between two runs.
type Difference struct {
	Old     string   `json:"old"` // the files' names
	New     string   `json:"new"`
	Notes   []string `json:"notes,omitempty"` // what differs between the runs themselves
	Changes []Change `json:"changes"`
}

// Change is a figure of two runs. A side that has none says why.
type Change struct {
	Figure            // Value, Spread and NA are the new run's
	Old       float64 `json:"old"`
	OldSpread float64 `json:"old_spread,omitempty"`
	OldNA     string  `json:"old_na,omitempty"`
	Percent   float64 `json:"percent"`           // of the old value; 0 where that is 0
	Within    bool    `json:"within"`            // the spreads overlap: the two cannot be told apart
	Verdict   string  `json:"verdict,omitempty"` // "better" or "worse", where one can tell and it matters which
}

// notThere is the NA of a figure that one of the runs lacks.
const notThere = "not in this run"

type figureKey struct{ algorithm, store, measure, at, metric string }

func keyOf(f Figure) figureKey {
	return figureKey{f.Algorithm, f.Store, f.Measure, f.At, f.Metric}
}

// Compare sets two runs side by side, figure by figure, in the order of the new one.
func Compare(older, newer *bench.Results, oldName, newName string) *Difference {
	d := &Difference{Old: oldName, New: newName, Notes: unlike(older, newer)}
	before := map[figureKey]Figure{}
	was := Figures(older)
	for _, f := range was {
		before[keyOf(f)] = f
	}
	seen := map[figureKey]bool{}
	for _, f := range Figures(newer) {
		old, ok := before[keyOf(f)]
		if !ok {
			old = Figure{NA: notThere}
		}
		seen[keyOf(f)] = true
		c := change(old, f)
		c.Verdict = c.verdict(newer.Limit.Count)
		d.Changes = append(d.Changes, c)
	}
	for _, f := range was {
		if !seen[keyOf(f)] {
			gone := f
			gone.Value, gone.Spread, gone.NA = 0, 0, notThere
			d.Changes = append(d.Changes, change(f, gone))
		}
	}
	return d
}

func change(old, now Figure) Change {
	c := Change{Figure: now, Old: old.Value, OldNA: old.NA, OldSpread: old.Spread}
	if old.NA == "" && now.NA == "" {
		if old.Value != 0 {
			c.Percent = (now.Value - old.Value) / math.Abs(old.Value) * 100
		}
		c.Within = overlap(old.Value, old.Spread, now.Value, now.Spread) ||
			now.Value != old.Value && sampledBytes(now.Metric) && math.Abs(c.Percent) < sampledPercent
	}
	return c
}

// sampledPercent is how well bytes per key repeat that are the growth of a server's or the process's count: they are
// measured once, so they have no spread of their own.
const sampledPercent = 1

func sampledBytes(metric string) bool {
	return strings.HasSuffix(metric, "bytes_per_key") || metric == "total_bytes"
}

// Equal reports whether both runs have the very same figure, or lack it for the same reason.
func (c Change) Equal() bool { return c.NA == c.OldNA && c.Value == c.Old }

// verdict tells which of two values is better. To admit even less than the limit in a window is not.
func (c Change) verdict(limit int64) string {
	if c.NA != "" || c.OldNA != "" || c.Within {
		return ""
	}
	now, old := c.Value, c.Old
	switch c.Metric {
	case "max_in_window", "declared_max_in_window", "boundary_most":
		now, old = max(now, float64(limit)), max(old, float64(limit))
	case "max_over_limit":
		now, old = max(now, 1), max(old, 1)
	}
	end := betterEnd(c.Metric)
	switch {
	case now == old || end == neither:
		return ""
	case (now < old) == (end == lower):
		return "better"
	}
	return "worse"
}

// betterEnd tells which end of a metric is better.
func betterEnd(metric string) better {
	switch metric {
	case "per_second", "callers_per_second", "open_achieved":
		return higher
	case "events", "keys", "allowed", "denied", "exact_admitted", "admitted_ratio", "boundary_admitted", "declared_calls",
		"server_calls", "stall_idle_us":
		return neither
	}
	return lower
}

// unlike names what makes two runs hard to compare.
func unlike(older, newer *bench.Results) []string {
	var all []string
	a, b := older.Environment, newer.Environment
	for _, f := range []struct{ what, old, now string }{
		{"limit", older.Limit.Text, newer.Limit.Text},
		{"clients", digits.Group(older.Clients), digits.Group(newer.Clients)},
		{"trace", traceName(older), traceName(newer)},
		{"seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed)},
		{"weir", a.Weir + " " + a.Commit, b.Weir + " " + b.Commit},
		{"go", a.Go, b.Go},
		{"system", a.OS + "/" + a.Arch, b.OS + "/" + b.Arch},
		{"machine", fmt.Sprintf("%d CPUs %s", a.CPUs, a.CPU), fmt.Sprintf("%d CPUs %s", b.CPUs, b.CPU)},
	} {
		if f.old != f.now {
			all = append(all, fmt.Sprintf("the %s differs: %s, then %s", f.what, f.old, f.now))
		}
	}
	for _, s := range b.Servers {
		i := slices.IndexFunc(a.Servers, func(o bench.ServerInfo) bool { return o.Store == s.Store })
		if i >= 0 && (a.Servers[i].Server != s.Server || a.Servers[i].StandIn != s.StandIn) {
			all = append(all, fmt.Sprintf("the server of %s differs: %s, then %s", s.Store, a.Servers[i].Server, s.Server))
		}
	}
	for _, r := range []struct{ what, why string }{{"old", older.Incomplete}, {"new", newer.Incomplete}} {
		if r.why != "" {
			all = append(all, fmt.Sprintf("the %s run is incomplete: %s", r.what, r.why))
		}
	}
	return all
}

func traceName(r *bench.Results) string {
	if r.Trace == nil {
		return "none"
	}
	return r.Trace.Name
}
