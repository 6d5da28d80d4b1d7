package report

import (
	"fmt"
	"slices"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// frontierEvents is up to how many events per key the frontier tells the memory, as the summary does.
const frontierEvents = mostEvents

// heldBytes returns what a key takes with so many events in it.
func heldBytes(res bench.Result, events int64) (bytes float64, why string) {
	for _, m := range res.Memory {
		if m.Events == events {
			return m.BytesPerKey, m.NA
		}
	}
	return 0, ""
}

// commonEvents is the largest number of events, up to frontierEvents, at which memory was measured; 0: none.
func commonEvents(r *bench.Results) (most int64) {
	for _, res := range r.Results {
		for _, m := range res.Memory {
			if m.Events <= frontierEvents {
				most = max(most, m.Events)
			}
		}
	}
	return most
}

// frontierOf draws what memory buys: across a plane, how wrong an algorithm is; up, what a key takes.
func frontierOf(r *bench.Results, x axis, wrongness func(worst) (float64, string)) chart {
	events := commonEvents(r)
	if events == 0 {
		return chart{}
	}
	panels, absent := byStoreOf(r, false, func(res bench.Result) ([]point, string) {
		w := worstOf(res.Precision)
		bytes, why := heldBytes(res, events)
		if w.events == 0 || bytes <= 0 {
			return nil, why
		}
		v, text := wrongness(w)
		return []point{{X: v, Y: bytes, Text: text + ", " + bytesOf(bytes) + " bytes"}}, ""
	})
	c := chart{Absent: absent, Table: "summary", Picture: picture{
		Kind: scatterKind, X: x, Y: axis{Title: "bytes per key", Unit: bytesUnit, Log: true}, Panels: panels,
	}}
	c.Picture.X.span(panels, false, xOf)
	c.Picture.Y.span(panels, true, yOf)
	c.Title = fmt.Sprintf("Bytes per key after %s; the lower and the further left, the better.", digits.Plural(events, "event"))
	return c
}

func frontierChart(r *bench.Results) chart {
	limit := float64(max(r.Limit.Count, 1))
	c := frontierOf(r, axis{Title: "most admitted in any window, in limits", Unit: timesUnit}, func(w worst) (float64, string) {
		return float64(w.most) / limit, digits.Group(w.most) + " in a window"
	})
	c.ID = "frontier"
	c.Title = "Precision against memory: across, the most admitted in any window of any scenario. " + c.Title
	c.Picture.X.Min = min(c.Picture.X.Min, 1) - 0.04 // points at an end are whole
	c.Picture.X.Max = max(c.Picture.X.Max, 2) + 0.04
	c.Finding = frontierFinding(r, c.Picture.Panels)
	return c
}

// frontierFinding tells the cheapest and the dearest way to keep to the limit, where they lie furthest apart.
func frontierFinding(r *bench.Results, panels []panel) string {
	var low, high end
	found := 0
	for _, p := range panels {
		l, h, n := ends(p, keeping, yOf)
		if n > 0 && (found == 0 || h.at.Y/l.at.Y > high.at.Y/low.at.Y) {
			low, high, found = l, h, n
		}
	}
	switch {
	case len(panels) == 0:
		return ""
	case found == 0:
		return fmt.Sprintf("None kept to %s in every window.", digits.Group(r.Limit.Count))
	case found == 1 || low.at.Y == high.at.Y:
		return fmt.Sprintf("%s keeps to %s in any window, for %s bytes per key.", low, digits.Group(r.Limit.Count), bytesOf(low.at.Y))
	}
	return fmt.Sprintf("On %s, %s keeps to %s in any window for %s bytes per key, %s for %s.",
		low.store, low.name, digits.Group(r.Limit.Count), bytesOf(low.at.Y), high.name, bytesOf(high.at.Y))
}

// keeping picks the point of what never went over the limit.
func keeping(s series) (point, bool) {
	at, ok := last(s)
	return at, ok && at.X <= 1
}

func deniedChart(r *bench.Results) chart {
	c := frontierOf(r, axis{Title: "share of all requests falsely denied", Unit: shareUnit}, func(w worst) (float64, string) {
		return w.denied(), share(w.denied()) + " falsely denied"
	})
	c.ID = "denied"
	c.Title = "False denials against memory: across, the share of all requests of all scenarios that were denied although there was room. " + c.Title
	c.Picture.X.Max = max(c.Picture.X.Max*1.04, 0.01)
	c.Picture.X.Min = -0.04 * c.Picture.X.Max
	c.Finding = deniedFinding(c.Picture.Panels)
	return c
}

func deniedFinding(panels []panel) string {
	var most end
	var all, never []string
	for _, p := range panels {
		_, high, n := ends(p, last, xOf)
		if n > 0 && (most.name == "" || high.at.X > most.at.X) {
			most = high
		}
		for _, s := range p.Series {
			if at, ok := last(s); ok && !slices.Contains(all, s.Name) {
				all = append(all, s.Name)
				if at.X == 0 {
					never = append(never, s.Name)
				}
			}
		}
	}
	switch {
	case len(all) == 0:
		return ""
	case most.at.X == 0:
		return "None denied a request that there was room for."
	case len(never) == 0:
		return fmt.Sprintf("Every algorithm denied requests that there was room for; %s most often: %s of all.", most.name, share(most.at.X))
	}
	return fmt.Sprintf("%s turned away %s of all requests although there was room; %d of %s never did.",
		most.name, share(most.at.X), len(never), digits.Plural(int64(len(all)), "algorithm"))
}
