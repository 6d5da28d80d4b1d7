package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
)

// chart is a picture of numbers that a table of the page holds too.
type chart struct {
	ID      string
	Finding string // one sentence, made from the numbers
	Title   string // what is drawn, and how to read it
	Absent  string // the stores without numbers, and why
	Table   string // the id of the grid with the numbers
	Picture picture
}

// picture is what charts.js draws, as JSON.
type picture struct {
	Kind   kind     `json:"kind"`
	X      axis     `json:"x"`
	Y      axis     `json:"y"`
	Marks  []string `json:"marks,omitempty"` // what the points of a row are, one after the other
	Limit  float64  `json:"limit,omitempty"` // a line to stay below
	Panels []panel  `json:"panels"`
}

// kind is how the numbers are drawn.
type kind string

const (
	scatterKind kind = "scatter" // one point of each series, in a plane
	linesKind   kind = "lines"   // a line of each series
	stepsKind   kind = "steps"   // a staircase, below or above a limit
	barsKind    kind = "bars"    // a row of each series: a bar of the first point, a tick at the second
	stackKind   kind = "stack"   // a row of each series: the points' bars end to end
	rangesKind  kind = "ranges"  // a row of each series: its points on one line
	columnsKind kind = "columns" // a column of each point of one series, side by side from one end of x to the other
)

type axis struct {
	Title string  `json:"title"`
	Unit  unit    `json:"unit"`
	Log   bool    `json:"log,omitempty"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
}

// unit is how the ticks of an axis are written.
type unit string

const (
	bytesUnit unit = "bytes"
	microUnit unit = "us"
	countUnit unit = "count"
	shareUnit unit = "share"
	timesUnit unit = "times"
	clockUnit unit = "clock" // microseconds since the Unix epoch, told in UTC
	hourUnit  unit = "hour"  // of the day
)

// panel is one of several small pictures side by side.
type panel struct {
	Title  string   `json:"title"`
	Server string   `json:"-"`           // what ran there
	Note   string   `json:"-"`           // what is not in it, and why
	Height int      `json:"height"`      // pixels, so that nothing moves when it is drawn
	X      *axis    `json:"x,omitempty"` // its own scale, where it has one
	Y      *axis    `json:"y,omitempty"`
	Series []series `json:"series"`
}

// series is an algorithm, or what it is compared with.
type series struct {
	Name   string  `json:"name"`
	Look   int     `json:"look"`         // its colour and shape, the same on the whole page
	NA     string  `json:"na,omitempty"` // why a row has no points
	Points []point `json:"points"`
}

// asideLook is that of what is no algorithm.
const asideLook = -1

type point struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Text string  `json:"text"` // the number as tables write it
}

// The heights of panels in pixels. Those with rows have a height for each.
const (
	planeHeight = 320
	stepsHeight = 190
	rowHeight   = 26
	axisHeight  = 44
)

// ownScaleNote warns not to compare across panels.
const ownScaleNote = " Each store has a scale of its own."

// charts are the pictures of what a run measured. Those that would be empty are left out.
func charts(r *bench.Results) []chart {
	var all []chart
	for _, draw := range []func(*bench.Results) chart{
		frontierChart, deniedChart, boundaryChart, wrongChart, memoryChart, speedChart, latencyChart, serverChart, wireChart,
		stallChart, eventsChart, keysChart, callersChart, gatheredChart, openChart,
	} {
		if c := draw(r); len(c.Picture.Panels) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// looks gives each algorithm a number of its own, in the order in which they come.
func looks(r *bench.Results) map[string]int {
	all := map[string]int{}
	for _, res := range r.Results {
		if _, ok := all[res.Algorithm]; !ok {
			all[res.Algorithm] = len(all)
		}
	}
	return all
}

// byStoreOf makes a panel of each store. of returns the points of a result, or why there are none. A store
// without any has no panel and is named in absent.
func byStoreOf(r *bench.Results, rows bool, of func(bench.Result) ([]point, string)) (panels []panel, absent string) {
	look := looks(r)
	var without gaps
	for _, store := range storesOf(r) {
		p := panel{Title: placeOf(store), Server: printable(serverOf(r, store)), Height: planeHeight}
		var missing gaps
		found := 0
		for _, res := range r.Results {
			if res.Store != store {
				continue
			}
			points, why := of(res)
			if len(points) == 0 {
				switch {
				case len(res.Unsupported) > 0:
					why = needs(res.Unsupported)
				case why != "":
					why = printable(notMeasured(why))
				case res.Error != "":
					why = "failed"
				default:
					continue
				}
				missing.add(why, printable(res.Algorithm))
				if !rows {
					continue
				}
				points = []point{} // not null to charts.js
			} else {
				why = ""
				found++
			}
			p.Series = append(p.Series, series{Name: printable(res.Algorithm), Look: look[res.Algorithm], NA: why, Points: points})
		}
		switch {
		case found > 0:
			if rows {
				p.Height = axisHeight + rowHeight*len(p.Series)
			} else {
				p.Note = missing.String()
			}
			panels = append(panels, p)
		case len(missing) > 0 && !missing.allNeed():
			without.add(missing[0].why, p.Title)
		}
	}
	return panels, without.String()
}

// placeOf is a store's name for a sentence: "memory:" is "memory".
func placeOf(store string) string { return strings.TrimSuffix(printable(store), ":") }

// storesOf are in the order in which they come.
func storesOf(r *bench.Results) (all []string) {
	for _, res := range r.Results {
		if !slices.Contains(all, res.Store) {
			all = append(all, res.Store)
		}
	}
	return all
}

// gap is a reason why there are no numbers, and for whom.
type gap struct {
	why   string
	names []string
}

type gaps []gap

func (g *gaps) add(why, name string) {
	i := slices.IndexFunc(*g, func(o gap) bool { return o.why == why })
	if i < 0 {
		*g = append(*g, gap{why: why})
		i = len(*g) - 1
	}
	(*g)[i].names = append((*g)[i].names, name)
}

func (g gaps) allNeed() bool {
	return !slices.ContainsFunc(g, func(o gap) bool { return !strings.HasPrefix(o.why, needs(nil)) })
}

func (g gaps) String() string {
	var all []string
	for _, o := range g {
		all = append(all, list(o.names)+": "+o.why)
	}
	return strings.Join(all, "; ")
}

// span sets the ends of an axis to the lowest and highest of the values that read returns; if rounded, to the
// next one, two or five of a decade.
func (a *axis) span(panels []panel, rounded bool, read func(point) float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, s := range p.Series {
			for _, at := range s.Points {
				if v := read(at); v > 0 || !a.Log {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	if low > high {
		low, high = 1, 1
	}
	if a.Log && rounded {
		low, high = roundDown(low), 1/roundDown(1/high)
	}
	if low == high {
		high = max(low*2, low+1)
	}
	a.Min, a.Max = low, high
}

// roundDown returns the next one, two or five of a decade below v, which is above 0.
func roundDown(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{5, 2} {
		if v >= n*decade {
			return n * decade
		}
	}
	return decade
}

// ownScales gives each panel a scale of its own for the axis that of chooses.
func (p *picture) ownScales(from axis, read func(point) float64, of func(*panel) **axis) {
	for i := range p.Panels {
		own := from
		own.span(p.Panels[i:i+1], true, read)
		*of(&p.Panels[i]) = &own
	}
}

func ownX(p *panel) **axis { return &p.X }
func ownY(p *panel) **axis { return &p.Y }

func xOf(p point) float64 { return p.X }
func yOf(p point) float64 { return p.Y }

// byX orders points of a line.
func byX(points []point) []point {
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
	return points
}
