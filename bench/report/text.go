package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// How wide text is: unless told otherwise, and at least.
const (
	textWidth    = 120
	minTextWidth = 80
)

// How wide the name of an algorithm or a store may be before it is folded: usually, and where a table would
// be too wide.
const (
	keyWidth       = 32
	narrowKeyWidth = 20
)

// foldWidth is how wide words are where a table would be too wide.
const foldWidth = 16

// text writes tables, and says first what one must know to read them.
func (p page) text(b *bytes.Buffer, opts Options) {
	if opts.Width == 0 {
		opts.Width = textWidth
	}
	opts.Width = min(max(opts.Width, minTextWidth), textWidth)
	for _, f := range p.subject {
		fmt.Fprintf(b, "%s: %s\n", f.Name, f.Value)
	}
	for _, s := range p.warnings {
		fmt.Fprintln(b, folded("! "+s, opts.Width))
	}
	for _, t := range p.grids {
		fmt.Fprintf(b, "\n%s\n", t.title)
		textGrid(b, t, opts)
	}
	b.WriteByte('\n')
	for _, s := range p.legend {
		fmt.Fprintln(b, folded(s, opts.Width))
	}
	if len(p.legend) > 0 {
		b.WriteByte('\n')
	}
	for _, f := range p.origin {
		fmt.Fprintf(b, "%s: %s\n", f.Name, f.Value)
	}
	if p.command != "" {
		fmt.Fprintf(b, "again: %s\n", p.command)
	}
}

func folded(s string, width int) string { return trimEnds(text.WrapSoft(s, width)) }

// trimEnds takes the blanks off the ends of lines.
func trimEnds(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// textGrid writes as many groups side by side as fit, at least one, and the others below.
func textGrid(b *bytes.Buffer, t grid, opts Options) {
	for from := 0; from < len(t.groups); {
		to := from + 1
		drawn := drawText(t, from, to, opts, false)
		if text.LongestLineLen(drawn) > opts.Width {
			drawn = drawText(t, from, to, opts, true)
		}
		for to < len(t.groups) {
			wider := drawText(t, from, to+1, opts, false)
			if text.LongestLineLen(wider) > opts.Width {
				break
			}
			drawn = wider
			to++
		}
		fmt.Fprintln(b, trimEnds(drawn))
		from = to
	}
}

// drawText draws the groups from up to to, beside the keys. With fold, words are folded too.
func drawText(t grid, from, to int, opts Options, fold bool) string {
	first := 0
	for _, g := range t.groups[:from] {
		first += len(g.columns)
	}
	tw := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder = false
	tw.SetStyle(style)
	names := keyWidth
	if fold {
		names = narrowKeyWidth
	}
	above, heads := table.Row{"", ""}, table.Row{"algorithm", "store"}
	configs := []table.ColumnConfig{
		{Number: 1, WidthMax: names, WidthMaxEnforcer: text.WrapHard, VAlignHeader: text.VAlignBottom},
		{Number: 2, WidthMax: names, WidthMaxEnforcer: text.WrapHard, VAlignHeader: text.VAlignBottom},
	}
	titled := false
	at := first
	for _, g := range t.groups[from:to] {
		for _, c := range g.columns {
			above, heads = append(above, g.title), append(heads, t.narrowTitle(at))
			titled = titled || g.title != ""
			at++
			config := table.ColumnConfig{
				Number: len(heads), Align: text.AlignRight, AlignHeader: text.AlignRight, VAlignHeader: text.VAlignBottom,
			}
			if c.words {
				config.Align, config.AlignHeader = text.AlignLeft, text.AlignLeft
				if fold {
					config.WidthMax, config.WidthMaxEnforcer = cmp.Or(c.fold, foldWidth), text.WrapSoft
				}
			}
			configs = append(configs, config)
		}
	}
	t.makeRoom(configs[2:], from, to, first)
	tw.SetColumnConfigs(configs)
	if titled {
		tw.AppendHeader(above, table.RowConfig{AutoMerge: true, AutoMergeAlign: text.AlignCenter})
	}
	tw.AppendHeader(heads)
	for i, r := range t.rows {
		if i > 0 && r.store != t.rows[i-1].store {
			tw.AppendSeparator()
		}
		cells := table.Row{r.algorithm, r.store}
		for at := first; len(cells) < len(heads); at++ {
			if r.instead != "" {
				cells = append(cells, r.instead)
				continue
			}
			cells = append(cells, textCell(r.cells[at], opts.Color))
		}
		config := table.RowConfig{}
		if r.instead != "" {
			config = table.RowConfig{AutoMerge: true, AutoMergeAlign: text.AlignLeft}
		}
		tw.AppendRow(cells, config)
	}
	return tw.Render()
}

// textCell keeps a place for the mark, so that digits stand below digits.
func textCell(c cell, color bool) string {
	switch {
	case !c.known:
		return c.text
	case !c.best:
		return c.text + " "
	case color:
		return text.Colors{text.FgGreen, text.Bold}.Sprint(c.text + "*")
	default:
		return c.text + "*"
	}
}
