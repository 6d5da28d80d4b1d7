package report

import "github.com/weirlimits/weir/bench"

// memoryChart draws what a key takes as it fills, beside the least that it could.
func memoryChart(r *bench.Results) chart {
	c := chart{
		ID: "memory-chart", Table: "memory",
		Title: "Bytes per key as it fills with admitted events, both axes logarithmic.",
		Picture: picture{
			Kind: linesKind, X: axis{Title: "events in the window", Unit: countUnit, Log: true},
			Y: axis{Title: "bytes per key", Unit: bytesUnit, Log: true},
		},
	}
	c.Picture.Panels, c.Absent = byStoreOf(r, false, func(res bench.Result) (points []point, why string) {
		for _, m := range res.Memory {
			if m.NA != "" || m.BytesPerKey <= 0 {
				why = m.NA
				continue
			}
			points = append(points, point{X: float64(m.Events), Y: m.BytesPerKey, Text: bytesOf(m.BytesPerKey) + " bytes"})
		}
		return byX(points), why
	})
	panels := c.Picture.Panels
	c.Finding = grew(panels, "a key", "events", func(v float64) string { return bytesOf(v) + " bytes" })
	c.Picture.X.span(panels, false, xOf)
	c.Picture.Y.span(panels, true, yOf)
	c.addFloor(r)
	return c
}

// addFloor draws the floor in every panel, as far as the axis goes.
func (c *chart) addFloor(r *bench.Results) {
	floor := series{Name: "floor", Look: asideLook}
	for _, p := range r.Floor {
		if p.Bytes >= c.Picture.Y.Min && p.Bytes <= c.Picture.Y.Max {
			floor.Points = append(floor.Points, point{X: float64(p.Events), Y: p.Bytes, Text: bytesOf(p.Bytes) + " bytes"})
		}
	}
	if len(floor.Points) < 2 {
		return
	}
	c.Title += " Dashed: the floor, the least that any exact log can take."
	for i := range c.Picture.Panels {
		c.Picture.Panels[i].Series = append(c.Picture.Panels[i].Series, floor)
	}
}

// growthChart draws a line of each algorithm on logarithmic axes.
func growthChart(r *bench.Results, c chart, of func(bench.Growth) ([]point, string)) chart {
	c.Picture.Kind, c.Picture.X.Unit, c.Picture.X.Log, c.Picture.Y.Log = linesKind, countUnit, true, true
	c.Picture.Panels, c.Absent = byStoreOf(r, false, func(res bench.Result) ([]point, string) {
		if res.Growth == nil {
			return nil, ""
		}
		points, why := of(*res.Growth)
		return byX(points), why
	})
	c.Picture.X.span(c.Picture.Panels, false, xOf)
	c.Picture.ownScales(c.Picture.Y, yOf, ownY)
	c.Title += ownScaleNote
	return c
}

func eventsChart(r *bench.Results) chart {
	c := growthChart(r, chart{
		ID: "events-chart", Table: "events", Title: "Time of one decision as the key fills with admitted events.",
		Picture: picture{X: axis{Title: "events in the window"}, Y: axis{Title: "time of a decision", Unit: microUnit}},
	}, func(g bench.Growth) (points []point, why string) {
		for _, p := range g.Events {
			if p.NA != "" || p.DecisionUS <= 0 {
				why = p.NA
				continue
			}
			points = append(points, point{X: float64(p.Events), Y: p.DecisionUS, Text: micros(p.DecisionUS)})
		}
		return points, why
	})
	c.Finding = grew(c.Picture.Panels, "a decision", "events in its key", micros)
	return c
}

func keysChart(r *bench.Results) chart {
	c := growthChart(r, chart{
		ID: "keys-chart", Table: "keys", Title: "Time of one decision as the store fills with keys.",
		Picture: picture{X: axis{Title: "keys in the store"}, Y: axis{Title: "time of a decision", Unit: microUnit}},
	}, func(g bench.Growth) (points []point, why string) {
		for _, p := range g.Keys {
			if p.NA != "" || p.DecisionNS <= 0 {
				why = p.NA
				continue
			}
			points = append(points, point{
				X: float64(p.Keys), Y: p.DecisionNS / 1000, Text: micros(p.DecisionNS/1000) + ", " + bytesOf(p.BytesPerKey) + " bytes per key",
			})
		}
		return points, why
	})
	c.Finding = grew(c.Picture.Panels, "a decision", "keys in the store", micros)
	return c
}

func callersChart(r *bench.Results) chart {
	return ratesChart(r, "callers-chart", "Decisions a second as more callers ask at once.", "the rate",
		func(p bench.CallersPoint) bench.CallersPoint { return p })
}

// gatheredChart is the same for callers who share round trips, where a store lets them.
func gatheredChart(r *bench.Results) chart {
	return ratesChart(r, "gathered-chart", "Decisions a second of callers who share round trips.", "the rate of shared trips",
		func(p bench.CallersPoint) bench.CallersPoint {
			if p.Gathered == nil {
				return bench.CallersPoint{}
			}
			return *p.Gathered
		})
}

// ratesChart draws the rate of as many callers as there are, of those that of picks.
func ratesChart(r *bench.Results, id, title, what string, of func(bench.CallersPoint) bench.CallersPoint) chart {
	c := growthChart(r, chart{
		ID: id, Table: "callers", Title: title,
		Picture: picture{X: axis{Title: "callers"}, Y: axis{Title: "decisions a second", Unit: countUnit}},
	}, func(g bench.Growth) (points []point, why string) {
		for _, one := range g.Callers {
			p := of(one)
			if p.NA != "" || p.PerSecond <= 0 {
				why = p.NA
				continue
			}
			points = append(points, point{X: float64(p.Callers), Y: p.PerSecond, Text: rough(p.PerSecond) + " a second, p99 " + micros(p.P99US)})
		}
		return points, why
	})
	c.Finding = grew(c.Picture.Panels, what, "callers", func(v float64) string { return rough(v) + " a second" })
	return c
}
