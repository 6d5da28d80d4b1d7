package report

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// narrowTitle breaks a column's title at a blank where the figures below are narrower.
func (t *grid) narrowTitle(at int) string {
	c := t.columns()[at]
	widest := 0
	for _, r := range t.rows {
		if r.instead == "" {
			widest = max(widest, text.StringWidth(textCell(r.cells[at], false)))
		}
	}
	if c.words || len(c.title) <= widest {
		return c.title
	}
	best := c.title
	for i, b := range c.title {
		if broken := c.title[:i] + "\n" + c.title[min(i+1, len(c.title)):]; b == ' ' && text.LongestLineLen(broken) < text.LongestLineLen(best) {
			best = broken
		}
	}
	return best
}

// makeRoom widens the last column below a group's title, or below a text in place of cells, that is wider than
// the columns it spans. The table's writer would share the room out among them, and divides by zero where that
// does not come out even. configs are those of the columns of the groups from up to to; the first has number first.
func (t *grid) makeRoom(configs []table.ColumnConfig, from, to, first int) {
	const separator = 1 // as the writer counts it
	widths := make([]int, len(configs))
	for i := range configs {
		widths[i] = t.widthOf(first + i)
		if most := configs[i].WidthMax; most > 0 {
			widths[i] = min(widths[i], most)
		}
	}
	fit := func(what string, columns []int, last int) {
		have := separator * (len(columns) - 1)
		for _, w := range columns {
			have += w
		}
		if lack := text.StringWidth(what) - have; lack > 0 {
			widths[last] += lack
			configs[last].WidthMin = widths[last]
			if configs[last].WidthMax > 0 {
				configs[last].WidthMax = max(configs[last].WidthMax, widths[last])
			}
		}
	}
	at := 0
	for _, g := range t.groups[from:to] {
		end := at + len(g.columns)
		fit(g.title, widths[at:end], end-1)
		at = end
	}
	for _, r := range t.rows {
		fit(r.instead, widths, len(widths)-1)
	}
}

// widthOf is how wide the title and the figures of a column are.
func (t *grid) widthOf(at int) int {
	width := text.LongestLineLen(t.narrowTitle(at))
	for _, r := range t.rows {
		if r.instead == "" {
			width = max(width, text.StringWidth(textCell(r.cells[at], false)))
		}
	}
	return width
}
