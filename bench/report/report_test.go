package report_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

var formats = []string{"text", "json", "csv", "md", "html"}

func TestText(t *testing.T) {
	out, err := render(measured(), "text")
	require.NoError(t, err)
	require.Contains(t, out, "limit: 10/1s\n")
	require.Contains(t, out, `again: weir compare --limit 10/1s --match 'POST /it'\''s'`)
	require.Contains(t, out, "! memcache:private was a stand-in (in-process memcached)")
	require.Regexp(t, `fixed-window +│ memcache:private │ CAS +│ counter, spurious denials │ +20 unless evicted  │ +1/2`, out)
	require.Regexp(t, `sliding-log +│ memcache:private │ needs sorted set \+ script\n`, out)
	require.Regexp(t, `fixed-window +│ memcache:private │ n/a \(stand-in\)\n`, out)
	require.Regexp(t, `gcra +│ redis:private +│ failed\n`, out)
	require.Contains(t, out, "! gcra on redis:private failed: context deadline exceeded\n")
	require.Regexp(t, `sliding-log +│ where it runs +│ +10\*│ +0\*│`, strings.ReplaceAll(out, "* │", "*│"), "the best is marked without colour")
	require.Contains(t, out, "200 shared")
	require.NotContains(t, out, "\x1b")
}

func TestTextFits120Columns(t *testing.T) {
	r := measured()
	for i := range r.Results {
		r.Results[i].Store += "/" + strings.Repeat("x", 80)
		for s := range 9 {
			for name, p := range r.Results[i].Precision {
				r.Results[i].Precision[name+fmt.Sprint(s)] = p
				break
			}
		}
	}
	out, err := render(r, "text")
	require.NoError(t, err)
	for line := range strings.Lines(out) {
		if strings.ContainsAny(line, "│┼") {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 120, line)
		}
	}
}

func TestTextColour(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.Render(&b, measured(), "text", &report.Options{Color: true}))
	plain, err := render(measured(), "text")
	require.NoError(t, err)
	require.Equal(t, plain, regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(b.String(), ""), "colour adds nothing but colour")
}

// bestOf returns the algorithms of a store that are marked in a column, counted from 0 beside the keys.
func bestOf(t *testing.T, r *bench.Results, section, store string, column int) []string {
	t.Helper()
	out, err := render(r, "md")
	require.NoError(t, err)
	_, out, found := strings.Cut(out, "## "+section)
	require.True(t, found, section)
	out, _, _ = strings.Cut(out, "\n## ")
	var best []string
	for line := range strings.Lines(out) {
		cells := strings.Split(line, "|")
		if len(cells) < column+4 || strings.TrimSpace(cells[2]) != store {
			continue
		}
		if strings.Contains(cells[column+3], "**") {
			best = append(best, strings.TrimSpace(cells[1]))
		}
	}
	return best
}

func TestBest(t *testing.T) {
	r := measured()
	require.Equal(t, []string{"sliding-log"}, bestOf(t, r, "Precision", "where it runs", 0))
	require.Empty(t, bestOf(t, r, "Precision", "where it runs", 2), "all are equal")
	require.Equal(t, []string{"fixed-window", "sliding-log"}, bestOf(t, r, "Throughput", "redis:private", 0), "within the spread")
	require.Equal(t, []string{"fixed-window"}, bestOf(t, r, "Memory", "redis:private", 0))
	r.Results = []bench.Result{r.Results[0], r.Results[3]}
	r.Results[1].Precision["boundary"] = bench.Precision{MaxInWindow: 30}
	require.Equal(t, []string{"fixed-window"}, bestOf(t, r, "Precision", "redis:private", 0), "one row each: among the stores")
}

func TestCSV(t *testing.T) {
	r := measured()
	r.Results[0].Algorithm = "=cmd|' /C calc'!A0"
	out, err := render(r, "csv")
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"algorithm", "store", "measure", "at", "metric", "value", "spread", "note"}, rows[0])
	require.Contains(t, rows, []string{"'=cmd|' /C calc'!A0", "redis:private", "precision", "steady", "max_in_window", "20", "", ""})
	require.Contains(t, rows, []string{"sliding-log", "redis:private", "throughput", "64", "per_second", "119700", "0.02", ""})
	require.Contains(t, rows, []string{"fixed-window", "memcache:private", "memory", "1", "bytes_per_key", "", "", "n/a (stand-in)"})
	require.Contains(t, rows, []string{"fixed-window", "memcache:private", "declared", "", "class", "CAS", "", ""})
	require.Contains(t, rows, []string{"sliding-log", "memcache:private", "", "", "", "", "", "needs sorted set + script"})
	for _, row := range rows {
		for _, cell := range row {
			require.NotRegexp(t, `^[=+@\t\r]`, cell)
		}
	}
}

func TestMarkdownTablesAreWhole(t *testing.T) {
	r := measured()
	r.Results[1].Store = hostile
	out, err := render(r, "md")
	require.NoError(t, err)
	pipes := regexp.MustCompile(`(^|[^\\])\|`)
	width := 0
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "|") {
			width = 0
			continue
		}
		n := len(pipes.FindAllString(line, -1))
		if width == 0 {
			width = n
		}
		require.Equal(t, width, n, line)
	}
	require.NotContains(t, out, "<script")
}

func TestHTML(t *testing.T) {
	out, err := render(full(), "html")
	require.NoError(t, err)
	_, library, found := strings.Cut(out, "<script>/*! Apache ECharts")
	require.True(t, found)
	library, _, _ = strings.Cut(library, "</script>")
	require.Less(t, len(library), 1_000_000)
	out = strings.Replace(out, library, "", 1)
	require.NotRegexp(t, `(?i)(src|href)="?(https?:|//)|@import|url\(`, out, "it asks nothing of the network")
	require.Regexp(t, `<td class="best" data-v="10">10</td>`, out)
	require.Regexp(t, `<td class="instead" colspan="\d+">needs sorted set &#43; script</td>`, out)
	require.Equal(t, strings.Count(out, "<tr"), strings.Count(out, "</tr>"))
	require.Equal(t, strings.Count(out, "<section"), strings.Count(out, "</section>"))
	require.NotContains(t, out, "<no value>")
}

func TestHostileNames(t *testing.T) {
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			r := measured()
			r.Limit.Text, r.Incomplete = hostile, hostile
			r.Trace = &bench.TraceInfo{Name: hostile, Format: hostile}
			r.Environment.Flags = []string{hostile}
			r.Environment.CPU = hostile
			for i := range r.Environment.Servers {
				r.Environment.Servers[i] = bench.ServerInfo{Store: hostile, Server: hostile, Class: hostile, StandIn: hostile}
			}
			for i := range r.Results {
				res := &r.Results[i]
				res.Algorithm, res.Store, res.Plan, res.Exactness = hostile+fmt.Sprint(i), hostile, hostile, hostile
				if res.Precision != nil {
					res.Precision[hostile] = res.Precision["steady"]
				}
			}
			out, err := render(r, format)
			require.NoError(t, err)
			require.NotContains(t, out, "\x1b")
			if format == "html" || format == "md" || format == "json" {
				require.NotContains(t, out, "<script>alert")
			}
		})
	}
}

func TestEmptyResults(t *testing.T) {
	for _, format := range formats {
		_, err := render(&bench.Results{Version: bench.ResultsVersion}, format)
		require.NoError(t, err, format)
	}
}

func TestJSONReadsBack(t *testing.T) {
	out, err := render(measured(), "json")
	require.NoError(t, err)
	back, err := bench.ReadResults(strings.NewReader(out), "x")
	require.NoError(t, err)
	require.Equal(t, measured(), back)
}

func TestUnknownFormat(t *testing.T) {
	var field *weir.FieldError
	require.ErrorAs(t, report.Render(io.Discard, measured(), "pdf", nil), &field)
	require.ErrorAs(t, report.Compare(measured(), measured(), "a", "b").Render(io.Discard, "pdf"), &field)
}

func TestEveryFigureHasAMetric(t *testing.T) {
	figures := report.Figures(full())
	require.NotEmpty(t, figures)
	for _, f := range figures {
		require.Contains(t, report.Metrics(), f.Metric)
	}
}

// TestTextOfAnyWidth draws groups whose titles are of every width above columns of every width: the rest of
// a division is where a table's writer may go wrong.
func TestTextOfAnyWidth(t *testing.T) {
	for title := range 24 {
		for _, figure := range []int{0, 1, 2, 5} {
			r := measured()
			r.Clients, r.Floor = 0, nil
			for i := range r.Results {
				for name, p := range r.Results[i].Precision {
					p.MaxInWindow = int64(math.Pow10(figure))
					delete(r.Results[i].Precision, name)
					r.Results[i].Precision[strings.Repeat("s", title+1)] = p
				}
				if r.Results[i].Unsupported != nil {
					r.Results[i].Unsupported = []string{strings.Repeat("u", title*figure)}
				}
			}
			for _, width := range []int{80, 120} {
				require.NoError(t, report.Render(io.Discard, r, "text", &report.Options{Width: width}))
			}
		}
	}
}

func TestTextWidth(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.Render(&b, measured(), "text", &report.Options{Width: 80}))
	for line := range strings.Lines(b.String()) {
		if !strings.Contains(line, ": ") { // facts are not folded
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
	}
}

func TestNoLowerThanTheLimitIsBetter(t *testing.T) {
	r := measured()
	r.Results = r.Results[:3]
	for i, most := range []int64{20, 10, 9} {
		r.Results[i].Precision = map[string]bench.Precision{"steady": {Events: 100, MaxInWindow: most}}
	}
	r.Results[2].Error = ""
	require.Equal(t, []string{"sliding-log", "gcra"}, bestOf(t, r, "Precision", "redis:private", 0))
	require.Equal(t, []string{"sliding-log", "gcra"}, bestOf(t, r, "Summary", "redis:private", 0))
}

func TestSummary(t *testing.T) {
	out, err := render(measured(), "text")
	require.NoError(t, err)
	_, out, found := strings.Cut(out, "\nSummary: ")
	require.True(t, found)
	out, _, _ = strings.Cut(out, "\n\n")
	require.Regexp(t, `fixed-window +│ redis:private +│ +20  │ +0 +│ +96\.2\* │ +96\* │ +120,000\* │`, out)
	require.Regexp(t, `gcra +│ redis:private +│ +19  │ +0 +│`, out)
	require.Regexp(t, `fixed-window +│ memcache:private │ +20 .* │ n/a \(stand-in\)`, out)
	require.Regexp(t, `sliding-log +│ memcache:private │ needs sorted set \+ script`, out)
}
