package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weirlimits/weir/conformance"
)

// certificates are printed in one of the formats.
type certificates struct {
	all    []certificate
	format string
}

func (c certificates) render(b *bytes.Buffer) error {
	if c.format == formatJSON {
		e := json.NewEncoder(b)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"certificates": c.all})
	}
	for i, one := range c.all {
		if i > 0 {
			b.WriteString("\n")
		}
		one.render(b, c.format == formatMarkdown)
	}
	return nil
}

// heading is the outcome in a few words.
func (c certificate) heading() string {
	switch s := c.Report.Status(); {
	case s == conformance.Error:
		return "no certificate: " + c.URL + " stopped to answer"
	case s >= conformance.OverClaimed || c.Report.Count(conformance.Pass) == 0:
		return c.URL + " does not conform"
	case s == conformance.Inconclusive:
		return c.URL + " conforms, as far as it could be tried"
	}
	return c.URL + " conforms"
}

func (c certificate) render(b *bytes.Buffer, markdown bool) {
	r := c.Report
	title, bullet, fence := "%s\n\n", "  ", ""
	if markdown {
		title, bullet, fence = "# %s\n\n", "- ", "```\n"
	}
	fmt.Fprintf(b, title, printable(c.heading()))
	server := c.Server
	if c.StandIn != "" {
		server += " (a stand-in)"
	}
	for _, fact := range [][2]string{
		{"server", server},
		{"store", r.Store + ", " + r.Traits.Class().String() + ": " + r.Traits.Capabilities.String()},
		{"weir", r.Weir + ", " + r.Go},
		{"run", fmt.Sprintf("%s, %v, seed %d, effort %d", r.Started.Format("2006-01-02 15:04:05 UTC"), r.Elapsed, r.Seed, r.Effort)},
		{"checks", outcomes(r.Count)},
	} {
		fmt.Fprintf(b, "%s%s: %s\n", bullet, fact[0], printable(fact[1]))
	}
	b.WriteString("\n" + conformTable(r, markdown) + "\n")
	for _, one := range r.Results {
		if one.Status < conformance.OverClaimed || one.Status == conformance.Error && strings.HasPrefix(one.Detail, "not tried") {
			continue
		}
		b.WriteString("\n" + fence + printableLines(one.String()) + "\n" + fence)
	}
	for _, note := range conformNotes(r) {
		b.WriteString("\n" + bullet + printable(note))
	}
	b.WriteString("\n")
}

// outcomes lists the counts that are not zero.
func outcomes(count func(conformance.Status) int) string {
	var parts []string
	for _, s := range []conformance.Status{
		conformance.Pass, conformance.Fail, conformance.OverClaimed, conformance.Error,
		conformance.Inconclusive, conformance.Unsupported, conformance.Skipped,
	} {
		if n := count(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

// conformGroup is the checks whose names begin alike.
type conformGroup struct {
	name   string
	counts map[conformance.Status]int
}

func conformGroups(r *conformance.Report) (groups []conformGroup) {
	for _, one := range r.Results {
		name := one.Check
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			name = name[:i]
		}
		if len(groups) == 0 || groups[len(groups)-1].name != name {
			groups = append(groups, conformGroup{name, map[conformance.Status]int{}})
		}
		groups[len(groups)-1].counts[one.Status]++
	}
	return groups
}

func conformTable(r *conformance.Report, markdown bool) string {
	tw := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	tw.SetStyle(style)
	tw.AppendHeader(table.Row{"Checks of", "Outcome"})
	for _, g := range conformGroups(r) {
		tw.AppendRow(table.Row{printable(g.name), outcomes(func(s conformance.Status) int { return g.counts[s] })})
	}
	if markdown {
		return tw.RenderMarkdown()
	}
	return trailingBlanks.ReplaceAllString(tw.Render(), "")
}

// conformNotes say why a check has no outcome, each reason once.
func conformNotes(r *conformance.Report) (notes []string) {
	type why struct {
		status conformance.Status
		detail string
	}
	at := map[why]int{}
	for _, one := range r.Results {
		if one.Status == conformance.Pass || one.Status >= conformance.OverClaimed {
			continue
		}
		w := why{one.Status, one.Detail}
		if i, ok := at[w]; ok {
			notes[i] += ", " + one.Check
			continue
		}
		at[w] = len(notes)
		notes = append(notes, fmt.Sprintf("%s: %s: %s", one.Status, one.Detail, one.Check))
	}
	return notes
}

// printableLines is printable line by line.
func printableLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "  "), "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
