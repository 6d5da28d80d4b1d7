package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weirlimits/weir/bench"
)

// writeCSV writes one line for each figure, so that any program can filter and pivot them: algorithm, store,
// measure, at, metric, value, spread, note. The class, plan and exactness are lines too. What cannot run
// has one line, whose note says "needs ...".
// Names that a spreadsheet would take for a formula begin with an apostrophe. more are figures that no result holds.
func writeCSV(w io.Writer, r *bench.Results, more ...Figure) error {
	out := csv.NewWriter(w) // it keeps its first error until Flush
	_ = out.Write([]string{"algorithm", "store", "measure", "at", "metric", "value", "spread", "note"})
	figures := Figures(r)
	write := func(f Figure) {
		value, spread := "", ""
		if f.NA == "" {
			value = plain(f.Value)
		}
		if f.Spread != 0 {
			spread = plain(f.Spread)
		}
		_ = out.Write([]string{
			inert(f.Algorithm), inert(f.Store), f.Measure, inert(f.At), f.Metric, value, spread, inert(notMeasured(f.NA)),
		})
	}
	for _, res := range r.Results {
		name := func(rest ...string) []string {
			return append([]string{inert(res.Algorithm), inert(res.Store)}, rest...)
		}
		switch {
		case len(res.Unsupported) > 0:
			_ = out.Write(name("", "", "", "", "", inert(needs(res.Unsupported))))
		case res.Error != "":
			_ = out.Write(name("", "", "", "", "", inert("failed: "+printable(res.Error))))
		}
		for _, f := range []fact{{"class", classOf(r, res.Store)}, {"plan", res.Plan}, {"exactness", res.Exactness}} {
			if f.Value != "" {
				_ = out.Write(name("declared", "", f.Name, inert(f.Value), "", ""))
			}
		}
		own := func(f Figure) bool { return f.Algorithm == res.Algorithm && f.Store == res.Store }
		for i := slices.IndexFunc(figures, own); i >= 0 && i < len(figures) && own(figures[i]); i++ {
			write(figures[i])
		}
	}
	for _, f := range append(floorFigures(r), more...) {
		write(f)
	}
	out.Flush()
	return out.Error()
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// inert keeps a spreadsheet from running a name, and a terminal from obeying it.
func inert(s string) string {
	if s = printable(s); s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
