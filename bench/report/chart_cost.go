package report

import (
	"fmt"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// costChart draws a row of each algorithm that has a cost.
func costChart(r *bench.Results, c chart, of func(bench.Cost) []point) chart {
	c.Table = "cost"
	c.Picture.Panels, c.Absent = byStoreOf(r, true, func(res bench.Result) ([]point, string) {
		switch {
		case res.Cost == nil:
			return nil, ""
		case res.Cost.NA != "":
			return nil, res.Cost.NA
		}
		return of(*res.Cost), notTold
	})
	return c
}

func serverChart(r *bench.Results) chart {
	c := costChart(r, chart{
		ID: "server", Title: "Time that the server spends on one decision." + ownScaleNote,
		Picture: picture{Kind: barsKind, X: axis{Unit: microUnit}},
	}, func(k bench.Cost) []point {
		if k.ServerUS <= 0 {
			return nil // the server does not say
		}
		return []point{{X: k.ServerUS, Text: micros(k.ServerUS)}}
	})
	c.Finding = widest(c.Picture.Panels, last, xOf, " of the server's time")
	return c
}

func wireChart(r *bench.Results) chart {
	c := costChart(r, chart{
		ID: "wire", Title: "Bytes on the wire of one decision, sent and received, and its round trips.",
		Picture: picture{Kind: stackKind, X: axis{Unit: bytesUnit}, Marks: []string{"sent", "received"}},
	}, func(k bench.Cost) []point {
		if k.WireOut+k.WireIn <= 0 {
			return nil // in this process there is no wire
		}
		text := fmt.Sprintf("%s, %.3g trips", bytesOf(k.WireOut+k.WireIn), k.Trips)
		if k.Trips == 1 {
			text = fmt.Sprintf("%s, 1 trip", bytesOf(k.WireOut+k.WireIn))
		}
		return []point{{X: k.WireOut, Text: text}, {X: k.WireIn, Text: text}}
	})
	c.Picture.X.span(c.Picture.Panels, false, xOf)
	c.Picture.X.Min, c.Picture.X.Max = 0, 0
	for _, p := range c.Picture.Panels {
		for _, s := range p.Series {
			if len(s.Points) == 2 {
				c.Picture.X.Max = max(c.Picture.X.Max, s.Points[0].X+s.Points[1].X)
			}
		}
	}
	c.Finding = wireFinding(c.Picture.Panels)
	return c
}

func wireFinding(panels []panel) string {
	total := func(s series) (point, bool) {
		if len(s.Points) < 2 {
			return point{}, false
		}
		sum := s.Points[0].X + s.Points[1].X
		return point{X: sum, Text: bytesOf(sum)}, true
	}
	return widest(panels, total, xOf, " bytes on the wire")
}

func stallChart(r *bench.Results) chart {
	c := chart{
		ID: "stall-chart", Table: "stall",
		Picture: picture{Kind: barsKind, X: axis{Unit: microUnit}, Marks: []string{"longest wait", "idle"}},
	}
	var events int64
	c.Picture.Panels, c.Absent = byStoreOf(r, true, func(res bench.Result) ([]point, string) {
		s := res.Stall
		switch {
		case s == nil:
			return nil, ""
		case s.NA != "":
			return nil, s.NA
		}
		events = max(events, s.Events)
		return []point{
			{X: s.LongestUS, Text: micros(s.LongestUS)},
			{X: s.IdleUS, Text: micros(s.IdleUS)},
		}, ""
	})
	c.Title = fmt.Sprintf("The longest that another client waited while one decision met a key of %s (tick: when idle).",
		digits.Plural(events, "event")) + ownScaleNote
	c.Finding = stallFinding(c.Picture.Panels, events)
	return c
}

// stallFinding tells who held the others up for longest.
func stallFinding(panels []panel, events int64) string {
	var most end
	var idle point
	for _, p := range panels {
		for _, s := range p.Series {
			if at, ok := nth(0)(s); ok && at.X > most.at.X {
				most, idle = end{s.Name, p.Title, at}, s.Points[1]
			}
		}
	}
	if most.name == "" {
		return ""
	}
	return fmt.Sprintf("One decision of %s on a key of %s held everybody else up for %s, against %s when idle.",
		most, digits.Plural(events, "event"), most.at.Text, idle.Text)
}
