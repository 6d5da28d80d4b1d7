package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weirlimits/weir/internal/digits"
)

// Render writes the difference in a format: "text", "json", "csv", "md" or "html". JSON and CSV hold every
// figure. The others have a table for each metric, of what is not the same in both runs, and the geometric mean of
// all; where the spreads overlap they say "~" and no more.
func (d *Difference) Render(w io.Writer, format string) error {
	switch format {
	case formatJSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(d)
	case formatCSV:
		return d.csv(w)
	}
	p := page{
		title:    d.Old + ", then " + d.New,
		lead:     d.sum(),
		warnings: append([]string(nil), d.Notes...),
		subject:  []fact{{"old", d.Old}, {"new", d.New}, {"in all", d.sum()}},
		grids:    d.grids(),
		legend: []string{
			"~ the two cannot be told apart: their spreads overlap or, of bytes per key, they differ by less than 1%. ±: half the spread of the repetitions.",
			"geomean: the geometric mean of all pairs of the metric, of those that did not change too.",
		},
	}
	if len(p.grids) == 0 {
		p.legend = nil
	}
	return p.printable().render(w, format, nil)
}

// sum counts what became of the figures.
func (d *Difference) sum() string {
	var same, within, better, worse, missing int64
	for _, c := range d.Changes {
		switch {
		case c.alike():
			same++
		case c.NA != "" || c.OldNA != "":
			missing++
		case c.Within:
			within++
		case c.Verdict == "better":
			better++
		case c.Verdict == "worse":
			worse++
		}
	}
	text := fmt.Sprintf("%s: %s the same", digits.Plural(int64(len(d.Changes)), "figure"), digits.Group(same))
	for _, n := range []struct {
		n    int64
		what string
	}{{within, "within the spread"}, {better, "better"}, {worse, "worse"}, {missing, "in one run only"}} {
		if n.n > 0 {
			text += fmt.Sprintf(", %s %s", digits.Group(n.n), n.what)
		}
	}
	return text + "."
}

// alike reports whether the two sides read the same.
func (c Change) alike() bool {
	return c.Equal() || c.NA == "" && c.OldNA == "" && valueText(c.Metric, c.Value) == valueText(c.Metric, c.Old)
}

// grids are a table for each metric of which something changed.
func (d *Difference) grids() []grid {
	type part struct{ measure, metric string }
	var order []part
	all := map[part][]Change{}
	for _, c := range d.Changes {
		p := part{c.Measure, c.Metric}
		if all[p] == nil {
			order = append(order, p)
		}
		all[p] = append(all[p], c)
	}
	var grids []grid
	for _, p := range order {
		if t := changed(p.measure, p.metric, all[p]); len(t.rows) > 0 {
			t.arrange()
			grids = append(grids, t)
		}
	}
	return grids
}

// atTitles say what the figures of a measure are at.
var atTitles = map[string]string{
	"precision": "scenario", "memory": "events", "throughput": "callers", "stall": "events", "events": "events", "keys": "keys",
	"callers": "callers", "open": "rate",
}

func changed(measure, metric string, changes []Change) grid {
	t := grid{id: measure + "-" + metric, title: metric + ": " + measure}
	var columns []column
	at := atTitles[measure]
	if at != "" {
		columns = append(columns, column{title: at, words: true})
	}
	t.groups = []group{{columns: append(columns, column{title: "old"}, column{title: "new"}, column{title: "change"}, column{title: "verdict", words: true})}}
	for _, c := range changes {
		if c.alike() {
			continue
		}
		to := row{algorithm: printable(c.Algorithm), store: printable(c.Store)}
		if at != "" {
			to.cells = append(to.cells, words(printable(c.At)))
		}
		to.cells = append(to.cells, side(metric, c.Old, c.OldSpread, c.OldNA), side(metric, c.Value, c.Spread, c.NA), c.cell(), words(c.Verdict))
		t.rows = append(t.rows, to)
	}
	if mean, ok := geomean(metric, changes); ok && len(t.rows) > 0 {
		if at != "" {
			mean.cells = append([]cell{words("")}, mean.cells...)
		}
		t.rows = append(t.rows, mean)
	}
	return t
}

func side(metric string, v, spread float64, na string) cell {
	if na != "" {
		return words(printable(notMeasured(na)))
	}
	text := valueText(metric, v)
	if spread > 0 {
		text += " ±" + percent(spread/2)
	}
	return number(text, v)
}

// cell tells by how much a figure changed, if that can be told.
func (c Change) cell() cell {
	switch {
	case c.NA != "" || c.OldNA != "":
		return words("")
	case c.Within:
		return number("~", c.Percent)
	case c.Old == 0:
		return words("from 0")
	}
	return number(fmt.Sprintf("%+.1f%%", c.Percent), c.Percent)
}

// geomean is the geometric mean of both sides of all pairs, where there are several, all are above 0, and some
// changed.
func geomean(metric string, changes []Change) (row, bool) {
	var old, now float64
	n, same := 0, true
	for _, c := range changes {
		if c.NA != "" || c.OldNA != "" {
			continue
		}
		same = same && c.alike()
		if c.Old <= 0 || c.Value <= 0 {
			return row{}, false
		}
		old, now = old+math.Log(c.Old), now+math.Log(c.Value)
		n++
	}
	if n < 2 || same {
		return row{}, false
	}
	old, now = math.Exp(old/float64(n)), math.Exp(now/float64(n))
	by := (now/old - 1) * 100
	return row{algorithm: "geomean", store: "all", aside: true, cells: []cell{
		number(valueText(metric, old), old), number(valueText(metric, now), now), number(fmt.Sprintf("%+.1f%%", by), by), words(""),
	}}, true
}

// valueText prints a value of a metric in its unit.
func valueText(metric string, v float64) string {
	switch {
	case strings.HasSuffix(metric, "_us"):
		return micros(v)
	case strings.HasSuffix(metric, "_ns"):
		return micros(v / 1000)
	case strings.Contains(metric, "bytes"):
		return bytesOf(v)
	case strings.HasSuffix(metric, "per_second"), metric == "open_achieved":
		return rough(v)
	case metric == "wrong_share", metric == "mean_error":
		return share(v)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func (d *Difference) csv(w io.Writer) error {
	out := csv.NewWriter(w) // it keeps its first error until Flush
	_ = out.Write([]string{
		"algorithm", "store", "measure", "at", "metric", "old", "old_spread", "new", "new_spread", "percent", "within_spread", "verdict", "note",
	})
	for _, c := range d.Changes {
		row := []string{inert(c.Algorithm), inert(c.Store), c.Measure, inert(c.At), c.Metric, "", "", "", "", "", "", c.Verdict, ""}
		if c.OldNA == "" {
			row[5], row[6] = plain(c.Old), plain(c.OldSpread)
		} else {
			row[12] = inert("old: " + notMeasured(c.OldNA))
		}
		if c.NA == "" {
			row[7], row[8] = plain(c.Value), plain(c.Spread)
		} else {
			row[12] = inert(strings.TrimPrefix(row[12]+"; new: "+notMeasured(c.NA), "; "))
		}
		if c.NA == "" && c.OldNA == "" {
			row[9], row[10] = strconv.FormatFloat(c.Percent, 'f', 2, 64), strconv.FormatBool(c.Within)
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}
