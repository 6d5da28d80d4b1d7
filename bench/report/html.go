package report

import (
	"bytes"
	"embed"
	"html/template"
	"strings"
)

//go:embed *.html.tmpl
var templateFiles embed.FS

var (
	pageTemplate       = template.Must(template.ParseFS(templateFiles, "page.html.tmpl", "frame.html.tmpl"))
	differenceTemplate = template.Must(template.ParseFS(templateFiles, "difference.html.tmpl", "frame.html.tmpl"))
)

// html writes one page that asks nothing of the network: it can be mailed or kept.
func (p page) html(b *bytes.Buffer) error {
	v := htmlPage{
		Title: p.title, Warnings: p.warnings, Facts: append(p.subject, p.origin...), Command: p.command,
	}
	for _, s := range p.legend {
		v.Legend = append(v.Legend, strings.Replace(s, bestMark+" the best", "★ the best", 1))
	}
	for _, t := range p.grids {
		v.Grids = append(v.Grids, newHTMLGrid(t))
	}
	return pageTemplate.Execute(b, v)
}

type htmlPage struct {
	Title    string
	Warnings []string
	Facts    []fact
	Command  string
	Grids    []htmlGrid
	Legend   []string
}

type htmlGrid struct {
	ID, Title string
	Groups    []htmlGroup
	Titled    bool // some group has a title
	Columns   []htmlColumn
	Width     int // columns beside the keys
	Rows      []htmlRow
}

type htmlGroup struct {
	Title string
	Width int
}

type htmlColumn struct {
	Title string
	Words bool
}

type htmlRow struct {
	Algorithm, Store, Instead string
	Cells                     []htmlCell
}

type htmlCell struct {
	Text  string
	Words bool
	Value string // for order; empty: no figure
	Best  bool
}

func newHTMLGrid(t grid) htmlGrid {
	v := htmlGrid{ID: t.id, Title: t.title}
	for _, g := range t.groups {
		v.Groups = append(v.Groups, htmlGroup{Title: g.title, Width: len(g.columns)})
		v.Titled = v.Titled || g.title != ""
	}
	columns := t.columns()
	v.Width = len(columns)
	for _, c := range columns {
		v.Columns = append(v.Columns, htmlColumn{Title: c.title, Words: c.words})
	}
	for _, r := range t.rows {
		to := htmlRow{Algorithm: r.algorithm, Store: r.store, Instead: r.instead}
		for i, c := range r.cells {
			cell := htmlCell{Text: c.text, Words: columns[i].words, Best: c.best}
			if c.known {
				cell.Value = plain(c.value)
			}
			to.Cells = append(to.Cells, cell)
		}
		v.Rows = append(v.Rows, to)
	}
	return v
}
