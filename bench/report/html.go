package report

import (
	"bytes"
	"embed"
	"html/template"
	"slices"
	"strings"
)

//go:embed *.html.tmpl
var templateFiles embed.FS

// What the page is made of beside its numbers. All of it stands in the page, so that it asks nothing of the network.
var (
	//go:embed page.css
	pageStyle string
	//go:embed sort.js
	sortScript string
	//go:embed charts.js
	chartScript string
	//go:embed echarts/echarts.min.js
	chartLibrary string
)

var pageTemplate = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"style":      func() template.CSS { return template.CSS(pageStyle) },
	"sortScript": func() template.JS { return template.JS(sortScript) },
	"markOf":     markOf,
}).ParseFS(templateFiles, "*.html.tmpl"))

// html writes one page that asks nothing of the network: it can be mailed or kept.
func (p page) html(b *bytes.Buffer) error {
	v := htmlPage{
		Title: p.title, Lead: p.lead, Warnings: p.warnings, Facts: append(p.subject, p.origin...), Command: p.command, Charts: p.charts,
	}
	for _, f := range p.origin {
		if f.Name == "started" || f.Name == "machine" {
			v.Dateline = strings.TrimPrefix(v.Dateline+" · "+f.Value, " · ")
		}
	}
	for _, s := range p.legend {
		v.Legend = append(v.Legend, strings.Replace(s, bestMark+" the best", "★ the best", 1))
	}
	for _, t := range p.grids {
		v.Grids = append(v.Grids, newHTMLGrid(t))
	}
	for i, c := range v.Charts {
		if !slices.ContainsFunc(p.grids, func(t grid) bool { return t.id == c.Table }) {
			v.Charts[i].Table = ""
		}
	}
	if len(p.charts) > 0 {
		v.Library, v.Draw = template.JS(chartLibrary), template.JS(chartScript)
		for _, c := range p.charts {
			v.Pictures = append(v.Pictures, c.Picture)
		}
	}
	return pageTemplate.Execute(b, v)
}

type htmlPage struct {
	Title    string
	Dateline string
	Lead     string
	Warnings []string
	Facts    []fact
	Command  string
	Charts   []chart
	Pictures []picture // the charts' own, as data
	Library  template.JS
	Draw     template.JS
	Grids    []htmlGrid
	Legend   []string
}

// Small reports whether the panels need little room.
func (c chart) Small() bool {
	return c.Picture.Kind == stepsKind || c.Picture.Kind == columnsKind || c.ID == wrongChartID
}

// markOf is the drawing of a mark that charts.js makes too, for the line that explains it.
func markOf(k kind, n int) template.HTML {
	var marks []string
	switch k {
	case rangesKind:
		marks = []string{
			`<circle cx="5" cy="5" r="4.5"/>`, `<path d="M5 -.4L10.4 5L5 10.4L-.4 5Z"/>`, `<path d="M5 .2L10 9.4H0Z"/>`,
		}
	case stackKind:
		marks = []string{`<path d="M0 0H12V9H0Z"/>`, `<path d="M.7 .7H11.3V8.3H.7Z" fill="none" stroke="currentColor" stroke-width="1.4"/>`}
	default:
		marks = []string{`<path d="M0 1.5H12V8H0Z"/>`, `<path d="M4.5 -1H7V11H4.5Z"/>`}
	}
	if n >= len(marks) {
		return ""
	}
	return template.HTML(`<svg viewBox="0 0 12 10" fill="currentColor" aria-hidden="true">` + marks[n] + `</svg>`)
}

type htmlGrid struct {
	ID, Title string
	Name      string // the title's beginning
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
	v.Name, _, _ = strings.Cut(t.title, ":")
	v.Name, _, _ = strings.Cut(v.Name, ",")
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
