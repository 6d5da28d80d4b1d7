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

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
)

// Options are how text looks. The zero value, and a nil *Options, are plain.
type Options struct {
	Color bool // colour text for a terminal, beside the marks that stand without it
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
// Text is at most 120 columns wide; a table that is wider goes on below itself. The HTML is one page
// that asks nothing of the network. CSV has one line for each [Figure].
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
	var b bytes.Buffer
	switch format {
	case formatText:
		p.text(&b, opts.Color)
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

func unknownFormat(format string) error {
	return &weir.FieldError{Field: "format", Value: strconv.Quote(format), Want: "text, json, csv, md or html"}
}

// page is a report before it is known how it will look.
type page struct {
	title    string
	warnings []string
	facts    []fact
	command  string // makes the run again; empty if unknown
	grids    []grid
	legend   []string
}

// fact is a line of what one must know to read the numbers.
type fact struct{ Name, Value string }

func newPage(r *bench.Results, detail bool) page {
	p := page{
		title:    "Rate-limit algorithms at " + r.Limit.Text,
		warnings: warnings(r),
		facts:    facts(r),
		command:  command(r.Environment.Flags),
		grids:    grids(r, detail),
		legend:   legend(r),
	}
	return p.printable()
}

// printable takes out of the page what could drive a terminal. The grids hold nothing such.
func (p page) printable() page {
	p.title, p.command = printable(p.title), printable(p.command)
	for i := range p.warnings {
		p.warnings[i] = printable(p.warnings[i])
	}
	for i, f := range p.facts {
		p.facts[i] = fact{printable(f.Name), printable(f.Value)}
	}
	return p
}

func warnings(r *bench.Results) []string {
	var all []string
	if r.Incomplete != "" {
		all = append(all, "This run is incomplete: "+r.Incomplete)
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
	bestLegend = bestMark + " the best of its column among the algorithms on one store, or of the stores where each runs one; " +
		"several where they are equal or within the spread."
)

// bestMark stands for the best of a column in a legend; each format has its own.
const bestMark = "*"

// legend explains only what the tables hold.
func legend(r *bench.Results) []string {
	var precise, declared, evicts, racy, speed, shared, unsupported bool
	for _, res := range r.Results {
		precise = precise || len(res.Precision) > 0
		declared = declared || res.Guarantee != nil
		evicts = evicts || res.Guarantee != nil && res.Guarantee.Evicts
		racy = racy || res.Exactness == racyExactness
		speed = speed || len(res.Throughput) > 0
		shared = shared || slices.ContainsFunc(res.Memory, func(m bench.Memory) bool { return m.Shared })
		unsupported = unsupported || len(res.Unsupported) > 0
	}
	var all []string
	for _, l := range []struct {
		say  bool
		what string
	}{
		{precise, precisionLegend},
		{declared && !precise, "max in W: the most that any window can see admitted."},
		{len(r.Results) > 0, bestLegend},
		{speed, "spread: highest less lowest repetition, in parts of the median."},
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
