package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/internal/digits"
)

// charts are the pictures of who was denied and of other limits. Those that would be empty are left out.
func (r *Replay) charts() (all []chart) {
	for _, c := range []chart{r.overTimeChart(), r.hoursChart(), r.whatIfChart()} {
		if len(c.Picture.Panels) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// columnsHeight is that of a panel with columns.
const columnsHeight = 190

func (r *Replay) overTimeChart() chart {
	span := r.Results.Span
	c := chart{
		ID: "over-time-chart", Table: "over-time",
		Title: "Denied requests over time, in steps of " + windowText(span.StepUS) + ".",
		Picture: picture{Kind: columnsKind, X: axis{
			Title: "UTC, from " + moment(span.StartUS), Unit: clockUnit,
			Min: float64(span.StartUS), Max: float64(span.StartUS + int64(len(span.Requests))*span.StepUS),
		}},
	}
	return r.columnsChart(c, func(d *insight.Denials) []int64 { return d.OverTime }, func(i int) string { return moment(span.StartUS + int64(i)*span.StepUS) },
		span.Requests)
}

func (r *Replay) hoursChart() chart {
	c := chart{
		ID: "hours-chart", Table: "hours", Title: "Denied requests by hour of the day, UTC.",
		Picture: picture{Kind: columnsKind, X: axis{Title: "hour of the day, UTC", Unit: hourUnit, Max: 24}},
	}
	return r.columnsChart(c, func(d *insight.Denials) []int64 { return d.Hours[:] }, func(i int) string { return fmt.Sprintf("%02d:00", i) },
		r.Results.Span.Hours[:])
}

// columnsChart draws a panel with a column for each part of the time. What denied alike has one panel; what denied
// nothing has none.
func (r *Replay) columnsChart(c chart, of func(*insight.Denials) []int64, at func(int) string, requests []int64) chart {
	var curves []bench.ReplayResult
	var names [][]string
	look := looks(r.AsResults())
	for _, one := range r.once() {
		if total(of(one.Denials)) == 0 || len(of(one.Denials)) != len(requests) {
			continue
		}
		name := printable(one.Algorithm)
		if one.Store != everyStore && len(storesOf(r.AsResults())) > 1 {
			name += " on " + placeOf(one.Store)
		}
		i := slices.IndexFunc(curves, func(o bench.ReplayResult) bool { return slices.Equal(of(o.Denials), of(one.Denials)) })
		if i < 0 {
			i = len(curves)
			curves, names = append(curves, one), append(names, nil)
		}
		names[i] = append(names[i], name)
	}
	var most int64
	for i, one := range curves {
		s := series{Name: list(names[i]), Look: look[one.Algorithm]}
		for k, n := range of(one.Denials) {
			s.Points = append(s.Points, point{
				X: float64(k), Y: float64(n), Text: fmt.Sprintf("%s: %s of %s denied", at(k), digits.Group(n), digits.Plural(requests[k], "request")),
			})
			if n > most {
				most = n
				c.Finding = fmt.Sprintf("At most, %s denied %s of %s, from %s on.", s.Name, digits.Group(n), digits.Plural(requests[k], "request"), at(k))
			}
		}
		c.Picture.Panels = append(c.Picture.Panels, panel{Title: s.Name, Height: columnsHeight, Series: []series{s}})
	}
	c.Picture.Y = axis{Title: "denied requests", Unit: countUnit, Max: float64(most)}
	return c
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// whatIfChart draws, for each window with several limits, what share of clients and of requests each denies.
func (r *Replay) whatIfChart() chart {
	c := chart{
		ID: "what-if-chart", Table: "what-if", Title: "The share denied as the limit rises. Each panel has a scale of its own.",
		Picture: picture{Kind: linesKind},
	}
	look := looks(r.AsResults())
	for _, o := range r.Results.WhatIf { // without the layers that those of the results may have
		if _, ok := look[o.Algorithm]; !ok {
			look[o.Algorithm] = len(look)
		}
	}
	var windows []string
	for _, name := range r.caseNames() {
		if _, window, _ := strings.Cut(name, "/"); !slices.Contains(windows, window) {
			windows = append(windows, window)
		}
	}
	for _, window := range windows {
		for _, of := range []struct {
			what  string
			share func(insight.Outcome) float64
			count func(insight.Outcome) string
		}{
			{"clients", func(o insight.Outcome) float64 { return o.ClientsShare }, func(o insight.Outcome) string { return digits.Plural(int64(o.DeniedClients), "client") }},
			{"requests", func(o insight.Outcome) float64 { return o.RequestShare }, func(o insight.Outcome) string { return digits.Plural(o.Denied, "request") }},
		} {
			p := panel{Title: "share of " + of.what + " denied, per " + printable(window), Height: planeHeight}
			for _, o := range r.Results.WhatIf {
				count, other, _ := strings.Cut(o.Limit, "/")
				var limit float64
				if _, err := fmt.Sscan(count, &limit); err != nil || other != window || o.NA != "" {
					continue
				}
				i := slices.IndexFunc(p.Series, func(s series) bool { return s.Name == printable(o.Algorithm) })
				if i < 0 {
					i = len(p.Series)
					p.Series = append(p.Series, series{Name: printable(o.Algorithm), Look: look[o.Algorithm]})
				}
				p.Series[i].Points = append(p.Series[i].Points, point{X: limit, Y: of.share(o), Text: share(of.share(o)) + ": " + of.count(o)})
			}
			if len(p.Series) == 0 || len(p.Series[0].Points) < 2 {
				continue
			}
			for _, s := range p.Series {
				byX(s.Points)
			}
			c.Picture.Panels = append(c.Picture.Panels, p)
		}
	}
	c.Picture.X = axis{Title: "limit", Unit: countUnit, Log: true}
	c.Picture.Y = axis{Title: "share denied", Unit: shareUnit}
	for i := range c.Picture.Panels {
		p := &c.Picture.Panels[i]
		x, y := c.Picture.X, c.Picture.Y
		x.span(c.Picture.Panels[i:i+1], false, xOf)
		y.span(c.Picture.Panels[i:i+1], false, yOf)
		y.Min, y.Max = 0, max(y.Max, 1e-4)
		p.X, p.Y = &x, &y
	}
	c.Finding = fell(c.Picture.Panels)
	return c
}

// fell says how the first line of the first panel falls.
func fell(panels []panel) string {
	if len(panels) == 0 {
		return ""
	}
	s := panels[0].Series[0]
	first, final := s.Points[0], s.Points[len(s.Points)-1]
	return fmt.Sprintf("A higher limit denies fewer: with %s %s of clients at %s, %s at %s.", s.Name, share(first.Y), digits.Group(int64(first.X)),
		share(final.Y), digits.Group(int64(final.X)))
}
