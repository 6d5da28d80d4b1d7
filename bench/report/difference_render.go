package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Render writes the difference in a format: "text", "json", "csv", "md" or "html". JSON and CSV hold every
// figure, the others only what is not the same in both runs, and how many figures are.
func (d *Difference) Render(w io.Writer, format string) error {
	var b bytes.Buffer
	switch format {
	case formatText:
		d.text(&b)
	case formatMarkdown:
		d.markdown(&b)
	case formatCSV:
		d.csv(&b)
	case formatJSON:
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		if err := e.Encode(d); err != nil {
			return err
		}
	case formatHTML:
		if err := differenceTemplate.Execute(&b, map[string]any{
			"Title": d.title(), "Notes": d.notes(), "Heads": differenceHeads, "Rows": d.rows(), "Legend": d.legend(),
		}); err != nil {
			return err
		}
	default:
		return unknownFormat(format)
	}
	_, err := w.Write(b.Bytes())
	return err
}

var differenceHeads = []string{"algorithm", "store", "figure", "old", "new", "change", ""}

func (d *Difference) title() string { return printable(d.Old + ", then " + d.New) }

func (d *Difference) notes() []string {
	all := make([]string, len(d.Notes))
	for i, n := range d.Notes {
		all[i] = printable(n)
	}
	return all
}

func (d *Difference) legend() []string {
	same, within := 0, 0
	for _, c := range d.Changes {
		switch {
		case c.Equal():
			same++
		case c.Within:
			within++
		}
	}
	all := []string{fmt.Sprintf("%s in all: %s the same in both and not listed.", plural(int64(len(d.Changes)), "figure"), whole(int64(same)))}
	if within > 0 {
		all = append(all, "~ within the spread: the two cannot be told apart.")
	}
	return all
}

// rows are the figures that are not the same in both runs.
func (d *Difference) rows() [][]string {
	var all [][]string
	for _, c := range d.Changes {
		if c.Equal() {
			continue
		}
		name := c.Metric
		if c.At != "" {
			name += " @ " + c.At
		}
		mark := ""
		if c.Within {
			mark = "~"
		}
		all = append(all, []string{
			printable(c.Algorithm), printable(c.Store), printable(name),
			side(c.Old, c.OldNA), side(c.Value, c.NA), c.percent(), mark,
		})
	}
	return all
}

func side(v float64, na string) string {
	if na != "" {
		return printable(notMeasured(na))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func (c Change) percent() string {
	switch {
	case c.NA != "" || c.OldNA != "":
		return ""
	case c.Old == 0:
		return "from 0"
	default:
		return fmt.Sprintf("%+.1f%%", c.Percent)
	}
}

func (d *Difference) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s\n", d.title())
	for _, n := range d.notes() {
		fmt.Fprintln(b, folded("! "+n, textWidth))
	}
	if rows := d.rows(); len(rows) > 0 {
		tw := table.NewWriter()
		style := table.StyleLight
		style.Format.Header = text.FormatDefault
		style.Options.DrawBorder = false
		tw.SetStyle(style)
		var configs []table.ColumnConfig
		for i, most := range []int{24, 24, 28} {
			configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: most, WidthMaxEnforcer: text.WrapHard})
		}
		for i := 4; i <= 6; i++ {
			configs = append(configs, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
		tw.SetColumnConfigs(configs)
		tw.AppendHeader(anyRow(differenceHeads))
		for _, r := range rows {
			tw.AppendRow(anyRow(r))
		}
		fmt.Fprintln(b, trimEnds(tw.Render()))
	}
	for _, s := range d.legend() {
		fmt.Fprintf(b, "%s\n", s)
	}
}

func anyRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	return row
}

func (d *Difference) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "# %s\n\n", markdown(d.title()))
	for _, n := range d.notes() {
		fmt.Fprintf(b, "> %s\n\n", markdown(n))
	}
	if rows := d.rows(); len(rows) > 0 {
		fmt.Fprintf(b, "| %s |\n| --- | --- | --- | ---: | ---: | ---: | --- |\n", strings.Join(differenceHeads, " | "))
		for _, r := range rows {
			for i := range r {
				r[i] = markdown(r[i])
			}
			fmt.Fprintf(b, "| %s |\n", strings.Join(r, " | "))
		}
		b.WriteByte('\n')
	}
	for _, s := range d.legend() {
		fmt.Fprintf(b, "- %s\n", markdown(s))
	}
}

func (d *Difference) csv(b *bytes.Buffer) {
	out := csv.NewWriter(b)
	_ = out.Write([]string{"algorithm", "store", "measure", "at", "metric", "old", "old_spread", "new", "new_spread", "percent", "within_spread", "note"})
	for _, c := range d.Changes {
		row := []string{inert(c.Algorithm), inert(c.Store), c.Measure, inert(c.At), c.Metric, "", "", "", "", "", "", ""}
		if c.OldNA == "" {
			row[5], row[6] = plain(c.Old), plain(c.oldSpr)
		} else {
			row[11] = inert("old: " + notMeasured(c.OldNA))
		}
		if c.NA == "" {
			row[7], row[8] = plain(c.Value), plain(c.Spread)
		} else {
			row[11] = strings.TrimPrefix(row[11]+"; new: "+notMeasured(c.NA), "; ")
		}
		if c.NA == "" && c.OldNA == "" {
			row[9], row[10] = strconv.FormatFloat(c.Percent, 'f', 2, 64), strconv.FormatBool(c.Within)
		}
		_ = out.Write(row)
	}
	out.Flush()
}
