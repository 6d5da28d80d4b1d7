package report

import (
	"fmt"
	"slices"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// boundaryChart draws how many of the window's requests stand admitted, over time. What was decided alike has
// one panel.
func boundaryChart(r *bench.Results) chart {
	c := chart{
		ID: "boundary-chart", Table: "boundary",
		Title: "Bursts around a boundary: how many requests of the window that ends at each moment were admitted. Dashed: the limit.",
		Picture: picture{
			Kind: stepsKind, X: axis{Title: "time, in windows", Unit: timesUnit}, Y: axis{Title: "admitted in a window", Unit: countUnit},
			Limit: float64(r.Limit.Count),
		},
	}
	panels, names := boundaryPanels(r)
	c.Picture.Panels = panels
	c.Picture.X.span(panels, false, xOf)
	c.Picture.Y.span(panels, false, yOf)
	c.Picture.Y.Min, c.Picture.Y.Max = 0, max(c.Picture.Y.Max, float64(r.Limit.Count))*1.15
	c.Finding = boundaryFinding(r.Limit.Count, panels, names)
	return c
}

// boundaryPanels also returns the algorithms of each panel.
func boundaryPanels(r *bench.Results) (panels []panel, names [][]string) {
	look := looks(r)
	type curve struct {
		points []bench.BoundaryPoint
		names  []string
		look   int
	}
	var curves []curve
	for _, res := range r.Results {
		if len(res.Boundary) == 0 {
			continue
		}
		i := slices.IndexFunc(curves, func(c curve) bool { return slices.Equal(c.points, res.Boundary) })
		if i < 0 {
			curves = append(curves, curve{points: res.Boundary, look: look[res.Algorithm]})
			i = len(curves) - 1
		}
		name := printable(res.Algorithm)
		if slices.ContainsFunc(r.Results, func(o bench.Result) bool {
			return o.Algorithm == res.Algorithm && len(o.Boundary) > 0 && !slices.Equal(o.Boundary, res.Boundary)
		}) {
			name += " on " + printable(res.Store)
		}
		if !slices.Contains(curves[i].names, name) {
			curves[i].names = append(curves[i].names, name)
		}
	}
	window := float64(max(r.Limit.WindowUS, 1))
	for _, c := range curves {
		s := series{Name: list(c.names), Look: c.look}
		for _, p := range c.points {
			s.Points = append(s.Points, point{
				X: float64(p.AtUS) / window, Y: float64(p.InWindow),
				Text: fmt.Sprintf("%s in the window; %s of %s admitted", digits.Group(p.InWindow), digits.Group(p.Admitted), digits.Group(p.Asked)),
			})
		}
		panels = append(panels, panel{Title: s.Name, Height: stepsHeight, Series: []series{s}})
		names = append(names, c.names)
	}
	return panels, names
}

func boundaryFinding(limit int64, panels []panel, names [][]string) string {
	var most float64
	var worst string
	var kept []string
	for i, p := range panels {
		var peak float64
		for _, at := range p.Series[0].Points {
			peak = max(peak, at.Y)
		}
		if peak > most {
			most, worst = peak, p.Title
		}
		if peak <= float64(limit) {
			kept = append(kept, names[i]...)
		}
	}
	switch {
	case len(panels) == 0:
		return ""
	case most <= float64(limit):
		return fmt.Sprintf("None let more than %s through in a window.", digits.Group(limit))
	case len(kept) == 0:
		return fmt.Sprintf("%s let %s through in one window, %s the limit; none kept to %s.",
			worst, digits.Group(int64(most)), times(most/float64(max(limit, 1))), digits.Group(limit))
	}
	return fmt.Sprintf("%s let %s through in one window, %s the limit; %s kept to %s.",
		worst, digits.Group(int64(most)), times(most/float64(max(limit, 1))), list(kept), digits.Group(limit))
}

const wrongChartID = "wrong-chart"

// wrongChart draws the share of wrong decisions in each scenario.
func wrongChart(r *bench.Results) chart {
	once := *r
	once.Results = decidedAlike(r.Results, samePrecision)
	look := looks(r)
	c := chart{
		ID: wrongChartID, Table: "wrong",
		Title:   "Wrong decisions by traffic shape: the share that was admitted over the limit, or denied although there was room.",
		Picture: picture{Kind: barsKind, X: axis{Unit: shareUnit}},
	}
	var most, least float64
	var who, where string
	for _, s := range scenarioNames(r) {
		p := panel{Title: printable(s)}
		found := false
		for _, res := range once.Results {
			got, ok := res.Precision[s]
			if !ok || got.NA != "" {
				continue
			}
			name := printable(res.Algorithm)
			if res.Store != everyStore && len(storesOf(r)) > 1 {
				name += " on " + printable(res.Store)
			}
			p.Series = append(p.Series, series{
				Name: name, Look: look[res.Algorithm], Points: []point{{X: got.WrongShare, Text: share(got.WrongShare)}},
			})
			if got.WrongShare > most {
				most, who, where = got.WrongShare, name, p.Title
			}
			if !found || got.WrongShare < least {
				least = got.WrongShare
			}
			found = true
		}
		if found {
			p.Height = axisHeight + rowHeight*len(p.Series)
			c.Picture.Panels = append(c.Picture.Panels, p)
		}
	}
	c.Picture.X.span(c.Picture.Panels, false, xOf)
	c.Picture.X.Min, c.Picture.X.Max = 0, max(c.Picture.X.Max, 0.01)
	c.Finding = "No decision was wrong."
	if most > 0 {
		c.Finding = fmt.Sprintf("How often an algorithm is wrong depends on the traffic: at worst %s of decisions, by %s in %s.", share(most), who, where)
	}
	return c
}
