package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// callerLevels are the levels of the closed loop, the most callers first.
func callerLevels(r *bench.Results) []int {
	levels := distinct(r, func(res bench.Result) []bench.Throughput { return res.Throughput }, func(h bench.Throughput) int { return h.Callers })
	slices.Reverse(levels)
	return levels
}

// atLevel returns what was measured with so many callers, or why nothing was.
func atLevel(res bench.Result, callers int) (h bench.Throughput, ok bool, why string) {
	i := slices.IndexFunc(res.Throughput, func(h bench.Throughput) bool { return h.Callers == callers })
	if i < 0 {
		return h, false, ""
	}
	h = res.Throughput[i]
	return h, h.NA == "" && h.PerSecond > 0, h.NA
}

func speedChart(r *bench.Results) chart {
	levels := callerLevels(r)
	if len(levels) == 0 {
		return chart{}
	}
	c := chart{
		ID: "speed", Table: "throughput", Finding: speedFinding(r, levels[0]),
		Title:   fmt.Sprintf("Decisions a second with %s, and the spread of the repetitions.", digits.Plural(int64(levels[0]), "caller")) + ownScaleNote,
		Picture: picture{Kind: barsKind, X: axis{Unit: countUnit}, Marks: []string{digits.Plural(int64(levels[0]), "caller")}},
	}
	if len(levels) > 1 {
		one := levels[len(levels)-1]
		c.Picture.Marks = append(c.Picture.Marks, digits.Plural(int64(one), "caller"))
		c.Title = strings.Replace(c.Title, ", and", " (tick: with "+digits.Group(int64(one))+"), and", 1)
	}
	c.Picture.Panels, c.Absent = byStoreOf(r, true, func(res bench.Result) (points []point, why string) {
		for i := range c.Picture.Marks {
			h, ok, na := atLevel(res, levels[i*(len(levels)-1)])
			if !ok {
				return points, na
			}
			points = append(points, point{X: h.PerSecond, Text: rough(h.PerSecond) + " ±" + percent(h.Spread/2)})
		}
		return points, ""
	})
	return c
}

// speedFinding names the fastest of each store, and how many cannot be told from it.
func speedFinding(r *bench.Results, callers int) string {
	var all []string
	for _, store := range storesOf(r) {
		var best bench.Throughput
		var who string
		var rates []bench.Throughput
		for _, res := range r.Results {
			h, ok, _ := atLevel(res, callers)
			if res.Store != store || !ok {
				continue
			}
			rates = append(rates, h)
			if h.PerSecond > best.PerSecond {
				best, who = h, res.Algorithm
			}
		}
		if len(rates) == 0 {
			continue
		}
		ties := -1
		for _, h := range rates {
			if overlap(h.PerSecond, h.Spread, best.PerSecond, best.Spread) {
				ties++
			}
		}
		text := fmt.Sprintf("%s on %s (%s a second", printable(who), placeOf(store), rough(best.PerSecond))
		switch {
		case ties == 0:
		case ties == len(rates)-1:
			text += fmt.Sprintf("; all %d within the spread", len(rates))
		default:
			text += fmt.Sprintf("; %d more within the spread", ties)
		}
		all = append(all, text+")")
	}
	return "Fastest: " + list(all) + "."
}

func latencyChart(r *bench.Results) chart {
	levels := callerLevels(r)
	if len(levels) == 0 {
		return chart{}
	}
	c := chart{
		ID: "latency", Table: "throughput",
		Title:   "Latency of one decision with " + digits.Plural(int64(levels[0]), "caller") + ": the median, and what one in a hundred and one in a thousand exceed." + ownScaleNote,
		Picture: picture{Kind: rangesKind, X: axis{Unit: microUnit, Log: true}, Marks: []string{"p50", "p99", "p99.9"}},
	}
	c.Picture.Panels, c.Absent = byStoreOf(r, true, func(res bench.Result) (points []point, why string) {
		h, ok, na := atLevel(res, levels[0])
		if !ok {
			return nil, na
		}
		for _, us := range []float64{h.P50US, h.P99US, h.P999US} {
			points = append(points, point{X: us, Text: micros(us)})
		}
		return points, ""
	})
	c.Picture.ownScales(c.Picture.X, xOf, ownX)
	c.Finding = "One decision in a hundred takes longer than " + fromTo(c.Picture.Panels, nth(1), xOf) + "."
	return c
}

// fromTo tells of each panel the lowest and the highest time, and whose they are.
func fromTo(panels []panel, pick func(series) (point, bool), value func(point) float64) string {
	var all []string
	for _, p := range panels {
		low, high, n := ends(p, pick, value)
		from, to := micros(value(low.at)), micros(value(high.at))
		switch {
		case n == 0:
			continue
		case n > 1 && from != to:
			from += fmt.Sprintf(" (%s) to %s (%s)", low.name, to, high.name)
		case n == 1:
			from += " (" + low.name + ")"
		}
		all = append(all, from+" on "+p.Title)
	}
	return list(all)
}

func openChart(r *bench.Results) chart {
	c := chart{
		ID: "open-chart", Table: "open",
		Title: "Latency that 99 of 100 requests stay below, when they come at a rate of their own, from the moment each was due." + ownScaleNote,
		Picture: picture{
			Kind: linesKind, X: axis{Title: "requests a second", Unit: countUnit, Log: true}, Y: axis{Title: "p99", Unit: microUnit, Log: true},
		},
	}
	c.Picture.Panels, c.Absent = byStoreOf(r, false, func(res bench.Result) (points []point, why string) {
		for _, o := range res.OpenLoop {
			if o.NA != "" {
				why = o.NA
				continue
			}
			points = append(points, point{X: o.Rate, Y: o.P99US, Text: micros(o.P99US) + ", " + rough(o.Achieved) + " a second answered"})
		}
		return byX(points), why
	})
	c.Picture.X.span(c.Picture.Panels, false, xOf)
	c.Picture.ownScales(c.Picture.Y, yOf, ownY)
	c.Finding = "At the highest rate, 99 of 100 requests were answered within " + fromTo(c.Picture.Panels, last, yOf) + "."
	return c
}
