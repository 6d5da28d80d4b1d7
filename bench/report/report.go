// Package report renders measured [bench.Results] for people and for other programs: text for a
// terminal, Markdown, CSV, one self-contained HTML page, and JSON. It also compares two runs.
//
// It measures nothing. All that it prints comes from the results, and names in them (URLs, options,
// clients of a trace) are taken as hostile in every format.
package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
)

// Options are how text looks. The zero value, and a nil *Options, are plain.
type Options struct {
	Color bool // colour text for a terminal, beside the marks that stand without it
	Width int  // columns of text, 80 to 120; 0: 120
}

// The formats.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatCSV      = "csv"
	formatMarkdown = "md"
	formatHTML     = "html"
)

// Render writes the results in a format: "text", "json", "csv", "md" or "html". Another format is a
// [weir.FieldError].
//
// A table that is wider than text may be goes on below itself. The HTML is one page
// that asks nothing of the network, with charts of what the tables hold. CSV has one line for each [Figure].
func Render(w io.Writer, r *bench.Results, format string, opts *Options) error {
	switch format {
	case formatJSON:
		return r.Write(w)
	case formatCSV:
		return writeCSV(w, r)
	}
	return newPage(r, format != formatText).render(w, format, opts)
}

// render writes a page as text, Markdown or HTML.
func (p page) render(w io.Writer, format string, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	p.legend = slices.DeleteFunc(p.legend, func(s string) bool { return s == bestLegend && !p.marked() })
	var b bytes.Buffer
	switch format {
	case formatText:
		p.text(&b, *opts)
	case formatMarkdown:
		p.markdown(&b)
	case formatHTML:
		if err := p.html(&b); err != nil {
			return err
		}
	default:
		return unknownFormat(format)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// marked reports whether some cell is the best of its column.
func (p page) marked() bool {
	return slices.ContainsFunc(p.grids, func(t grid) bool {
		return slices.ContainsFunc(t.rows, func(r row) bool {
			return r.instead == "" && slices.ContainsFunc(r.cells, func(c cell) bool { return c.best })
		})
	})
}

func unknownFormat(format string) error {
	return &weir.FieldError{Field: "format", Value: strconv.Quote(format), Want: "text, json, csv, md or html"}
}

// page is a report before it is known how it will look.
type page struct {
	title    string
	lead     string // the answer, in one paragraph
	warnings []string
	subject  []fact  // what was measured
	origin   []fact  // with what, where and when
	command  string  // makes the run again; empty if unknown
	charts   []chart // only HTML has them
	grids    []grid
	legend   []string
}

// fact is a line of what one must know to read the numbers.
type fact struct{ Name, Value string }

func newPage(r *bench.Results, detail bool) page {
	p := page{
		title:    "Rate-limit algorithms at " + r.Limit.Text,
		lead:     lead(r),
		warnings: warnings(r),
		subject:  subject(r),
		origin:   origin(r),
		command:  command(r.Environment.Flags),
		charts:   charts(r),
		grids:    grids(r, detail),
		legend:   legend(r),
	}
	return p.printable()
}

// printable takes out of the page what could drive a terminal. The grids and charts hold nothing such.
func (p page) printable() page {
	p.title, p.lead, p.command = printable(p.title), printable(p.lead), printable(p.command)
	for i := range p.warnings {
		p.warnings[i] = printable(p.warnings[i])
	}
	for _, facts := range [][]fact{p.subject, p.origin} {
		for i, f := range facts {
			facts[i] = fact{printable(f.Name), printable(f.Value)}
		}
	}
	return p
}

func warnings(r *bench.Results) []string {
	var all []string
	if r.Incomplete != "" {
		all = append(all, "This run is incomplete: "+r.Incomplete)
	}
	for _, res := range r.Results {
		if res.Error != "" {
			all = append(all, fmt.Sprintf("%s on %s failed: %s", res.Algorithm, res.Store, res.Error))
		}
	}
	for _, s := range r.Environment.Servers {
		if s.StandIn != "" {
			all = append(all, fmt.Sprintf("%s was a stand-in (%s): it shows what an algorithm decides; its speed and bytes would mean nothing, so they read %q.",
				s.Store, s.StandIn, standIn))
		}
	}
	if t := r.Trace; t != nil && r.Limit.WindowUS < 10*t.ResolutionUS {
		all = append(all, fmt.Sprintf("The trace's times are too coarse to judge this limit: the window is under ten times their resolution of %s.",
			micros(float64(t.ResolutionUS))))
	}
	return all
}

// What every legend says.
const (
	precisionLegend = "max in W: the most admitted in any window. over: admitted although the limiter's own history was full. " +
		"false denied: denied although it was not."
	wrongLegend = "wrong: the share of decisions that are over or false denied. mean error: how far the told remaining is from the places " +
		"truly free by the limiter's own history, on average, in parts of the limit."
	counterLegend = "Cloudflare published 0.003% of wrong decisions for its two-window counter: a property of their " +
		"traffic, nearly all of it far below the limit."
	floorLegend = "floor (information): log2 C(W/tick + n, n) bits, the least that tells when up to n requests of one window came, " +
		"at the tick of packed-log."
	bestLegend = bestMark + " the best of its column among the algorithms on one store, or of the stores where each runs one; " +
		"several where they are equal or within the spread."
)

// counterName is the algorithm that a published share of wrong decisions is of.
var counterName = algorithms.SlidingCounter().Name()

// bestMark stands for the best of a column in a legend; each format has its own.
const bestMark = "*"

// legend explains only what the tables hold.
func legend(r *bench.Results) []string {
	var precise, counter, declared, evicts, racy, speed, cost, shared, unsupported bool
	for _, res := range r.Results {
		precise = precise || len(res.Precision) > 0
		counter = counter || len(res.Precision) > 0 && strings.HasPrefix(res.Algorithm, counterName)
		declared = declared || res.Guarantee != nil
		evicts = evicts || res.Guarantee != nil && res.Guarantee.Evicts
		racy = racy || res.Exactness == racyExactness
		speed = speed || len(res.Throughput) > 0
		cost = cost || res.Cost != nil
		shared = shared || slices.ContainsFunc(res.Memory, func(m bench.Memory) bool { return m.Shared })
		unsupported = unsupported || len(res.Unsupported) > 0
	}
	var all []string
	for _, l := range []struct {
		say  bool
		what string
	}{
		{precise, precisionLegend},
		{precise, wrongLegend},
		{declared && !precise, "max in W: the most that any window can see admitted."},
		{len(r.Results) > 0, bestLegend},
		{counter, counterLegend},
		{len(r.Floor) > 0, floorLegend},
		{speed, "spread: highest less lowest repetition, in parts of the median."},
		{cost, "cost: what the server counted, divided by the decisions."},
		{declared, "trips: round trips of an admitted request and, where they differ, after the slash those of a denied one."},
		{evicts, "unless evicted: the store drops live keys when it is full, which voids any bound."},
		{racy, "unless raced: not atomic, shown to fail; callers at once exceed the bound."},
		{unsupported, "needs ...: what the store lacks to run the algorithm."},
		{shared, "shared: others wrote to the server meanwhile; bytes are those of sampled single keys."},
	} {
		if l.say {
			all = append(all, l.what)
		}
	}
	return all
}
