package report

import (
	"bytes"
	"fmt"
	"strings"
)

// markdown writes tables in GitHub's Markdown. The best of a column is bold.
func (p page) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "# %s\n\n", markdown(p.title))
	for _, s := range p.warnings {
		fmt.Fprintf(b, "> %s\n\n", markdown(s))
	}
	for _, t := range p.grids {
		fmt.Fprintf(b, "## %s\n\n", markdown(t.title))
		markdownGrid(b, t)
		b.WriteByte('\n')
	}
	for _, s := range p.legend {
		fmt.Fprintf(b, "- %s\n", markdown(strings.Replace(s, bestMark+" the best", "Bold: the best", 1)))
	}
	b.WriteString("\n## Environment\n\n")
	for _, f := range append(p.subject, p.origin...) {
		fmt.Fprintf(b, "- %s: %s\n", markdown(f.Name), markdown(f.Value))
	}
	if p.command != "" {
		fmt.Fprintf(b, "- again: %s\n", markdown(p.command))
	}
}

func markdownGrid(b *bytes.Buffer, t grid) {
	heads, rule := []string{"algorithm", "store"}, []string{"---", "---"}
	for _, g := range t.groups {
		for _, c := range g.columns {
			title := c.title
			if g.title != "" {
				title = g.title + ": " + title
			}
			heads = append(heads, markdown(title))
			if c.words {
				rule = append(rule, "---")
			} else {
				rule = append(rule, "---:")
			}
		}
	}
	line := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(heads)
	line(rule)
	for _, r := range t.rows {
		cells := []string{markdown(r.algorithm), markdown(r.store)}
		if r.instead != "" {
			cells = append(cells, markdown(r.instead))
			cells = append(cells, make([]string, len(heads)-len(cells))...)
		}
		for _, c := range r.cells {
			if len(cells) == len(heads) {
				break
			}
			text := markdown(c.text)
			if c.best {
				text = "**" + text + "**"
			}
			cells = append(cells, text)
		}
		line(cells)
	}
}

// markdown makes text stand for itself: no link, no emphasis, no cell of a table, no HTML.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range printable(s) {
		switch r {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '\\', '`', '*', '_', '[', ']', '|', '!', '#', '~':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
