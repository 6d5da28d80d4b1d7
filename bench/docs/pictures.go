package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/weirlimits/weir/internal/digits"
)

// pictures are the page's, by name: each returns an SVG and a caption. The page may name the
// algorithms to show.
var pictures = map[string]func(m *measured, algorithms []string) (svg []byte, caption string, err error){
	"frontier": frontier,
	"boundary": boundary,
	"memory":   memory,
	"time":     timeByEvents,
	"peers":    peersPicture,
}

// look tells algorithms apart by colour (Okabe and Ito's, which colour-blind people can tell
// apart), by shape and by dashes.
type look struct {
	color  color.RGBA
	shape  draw.GlyphDrawer
	dashes []vg.Length
}

func lookOf(i int) look {
	colors := []color.RGBA{
		{0, 114, 178, 255},
		{213, 94, 0, 255},
		{0, 158, 115, 255},
		{204, 121, 167, 255},
		{230, 159, 0, 255},
		{86, 180, 233, 255},
		{0, 0, 0, 255},
		{120, 94, 240, 255},
		{140, 110, 60, 255},
		{90, 90, 90, 255},
	}
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
	}
	dashes := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}
	return look{colors[i%len(colors)], shapes[i%len(shapes)], dashes[i%len(dashes)]}
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(8), -vg.Points(4)
	p.Legend.Padding = vg.Points(3)
	for _, style := range []*draw.TextStyle{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font.Variant, style.Font.Size = "Sans", vg.Points(9)
	}
	p.Title.TextStyle.Font.Size = vg.Points(12)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(wholeTicks), plot.TickerFunc(wholeTicks)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{235}
	p.Add(grid)
	return p
}

func logarithmic(a *plot.Axis) {
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick {
		return grouped(plot.LogTicks{Prec: -1}.Ticks(from, to))
	})
}

// wholeTicks labels an axis with whole numbers.
func wholeTicks(from, to float64) []plot.Tick { return grouped(plot.DefaultTicks{}.Ticks(from, to)) }

func grouped(ticks []plot.Tick) []plot.Tick {
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = digits.Group(int64(math.Round(ticks[i].Value)))
		}
	}
	return ticks
}

func svg(p *plot.Plot, width, height vg.Length) ([]byte, error) {
	c := vgsvg.New(width, height)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

// line adds a curve with marks to the plot and its legend.
func line(p *plot.Plot, name string, xys plotter.XYs, i int) error {
	l, marks, err := plotter.NewLinePoints(xys)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	look := lookOf(i)
	l.Color, l.Dashes, l.Width = look.color, look.dashes, vg.Points(1.4)
	marks.Color, marks.Shape, marks.Radius = look.color, look.shape, vg.Points(2.8)
	p.Add(l, marks)
	p.Legend.Add(name, l, marks)
	return nil
}

// step adds a curve without marks.
func step(p *plot.Plot, name string, xys plotter.XYs, i int) error {
	l, err := plotter.NewLine(xys)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	look := lookOf(i)
	l.Color, l.Dashes, l.Width = look.color, look.dashes, vg.Points(4.5-float64(i))
	p.Add(l)
	p.Legend.Add(name, l)
	return nil
}

// frontierEvents is after how many events the frontier compares memory.
const frontierEvents = 1000

// frontier sets what an algorithm may be wrong by, to either side, against what a client costs.
func frontier(m *measured, _ []string) ([]byte, string, error) {
	limit := float64(m.compare.Limit.Count)
	p := newPlot("Precision against memory, Redis", fmt.Sprintf("bytes per client after %s requests", digits.Group(frontierEvents)),
		"too many above 0, too few below, % at worst")
	logarithmic(&p.X)
	for i, r := range m.onStore("redis") {
		b, err := bytesAt(&r, frontierEvents)
		if err != nil {
			continue
		}
		over, under := 0.0, 0.0
		for _, one := range r.Precision {
			over = max(over, float64(one.MaxInWindow)/limit-1)
			under = max(under, 1-one.AdmittedRatio)
		}
		if err := line(p, r.Algorithm, plotter.XYs{{X: b, Y: -100 * under}, {X: b, Y: 100 * over}}, i); err != nil {
			return nil, "", err
		}
	}
	exact := plotter.NewFunction(func(float64) float64 { return 0 })
	exact.Color = color.Gray{60}
	p.Add(exact)
	p.Legend.Left, p.Legend.XOffs = false, -vg.Points(8)
	p.Y.Min, p.Y.Max = -30, 110
	p.X.Min, p.X.Max = 100, 1e6
	out, err := svg(p, 20*vg.Centimeter, 11*vg.Centimeter)
	return out, "To the left is cheaper, and a point on the line at zero is exact. Above it: the most that any window admitted beyond the limit. Below it: by how much less was admitted than by an exact log. Each in its worst scenario.", err
}

// boundary shows what was admitted within the last window around a boundary.
func boundary(m *measured, algorithms []string) ([]byte, string, error) {
	p := newPlot("A burst on each side of a boundary, "+m.compare.Limit.Text, "seconds since the start", "admitted within the last window")
	end := 0.0
	for i, name := range algorithms {
		r, err := result(m.compare, "redis", name)
		if err != nil {
			return nil, "", err
		}
		if len(r.Boundary) == 0 {
			return nil, "", fmt.Errorf("no boundary burst of %s", name)
		}
		xys := make(plotter.XYs, len(r.Boundary))
		for j, b := range r.Boundary {
			xys[j].X, xys[j].Y = float64(b.AtUS)/1e6, float64(b.InWindow)
			end = max(end, xys[j].X)
		}
		if err := step(p, name, xys, i); err != nil {
			return nil, "", err
		}
	}
	limit := plotter.NewFunction(func(float64) float64 { return float64(m.compare.Limit.Count) })
	limit.Color, limit.Dashes = color.Gray{90}, []vg.Length{1, 3}
	p.Add(limit)
	p.Legend.Add("the limit", limit)
	p.Y.Min, p.Y.Max = 0, 2.6*float64(m.compare.Limit.Count)
	out, err := svg(p, 20*vg.Centimeter, 10*vg.Centimeter)
	return out, "How many requests the last window had admitted, at each moment, of a client that asks for the whole limit just before a boundary and again after it.", err
}

// memory shows what a client costs as it asks more.
func memory(m *measured, _ []string) ([]byte, string, error) {
	p := newPlot("Memory, Redis", "requests remembered", "bytes per client")
	logarithmic(&p.X)
	logarithmic(&p.Y)
	for i, r := range m.onStore("redis") {
		xys := plotter.XYs{}
		for _, one := range r.Memory {
			if one.NA == "" {
				xys = append(xys, plotter.XY{X: float64(one.Events), Y: one.BytesPerKey})
			}
		}
		if len(xys) == 0 {
			continue
		}
		if err := line(p, r.Algorithm, xys, i); err != nil {
			return nil, "", err
		}
	}
	out, err := svg(p, 20*vg.Centimeter, 12*vg.Centimeter)
	return out, "Counters stay flat; logs grow with the requests that they remember, the sorted set with a jump.", err
}

// timeByEvents shows the server's time for a decision as a key holds more.
func timeByEvents(m *measured, _ []string) ([]byte, string, error) {
	p := newPlot("Server time for one decision, Redis", "requests remembered", "microseconds")
	logarithmic(&p.X)
	drawn, most := 0, 0.0
	for i, r := range m.onStore("redis") {
		xys := plotter.XYs{}
		if r.Growth != nil {
			for _, one := range r.Growth.Events {
				if one.NA == "" && one.ServerUS > 0 {
					xys = append(xys, plotter.XY{X: float64(one.Events), Y: one.ServerUS})
					most = math.Max(most, one.ServerUS)
				}
			}
		}
		if len(xys) == 0 {
			continue
		}
		drawn++
		if err := line(p, r.Algorithm, xys, i); err != nil {
			return nil, "", err
		}
	}
	if drawn == 0 {
		return nil, "", fmt.Errorf("no growth in %s", compareFile)
	}
	p.Y.Min, p.Y.Max = 0, 1.7*most
	out, err := svg(p, 20*vg.Centimeter, 11*vg.Centimeter)
	return out, "The server's own time for a decision, as the key holds more.", err
}
