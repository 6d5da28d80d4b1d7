package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weirlimits/weir/bench/hammer"
)

var trailingBlanks = regexp.MustCompile(`(?m) +$`)

func writeHammer(w io.Writer, format string, rep *hammer.Report) error {
	switch format {
	case formatJSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rep)
	case formatCSV:
		return writeHammerCSV(w, rep)
	}
	runs := ""
	if n := hammerRuns(rep); n > 1 {
		runs = fmt.Sprintf(", %d runs of each", n)
	}
	spread := ""
	if rep.SpreadUS > 0 {
		spread = " (beginning over " + micros(rep.SpreadUS) + ")"
	}
	head := fmt.Sprintf("%d processes of %d workers%s send %d requests at one key, limit %s%s.\n",
		rep.Processes, rep.Workers, spread, rep.Requests, rep.Limit.Text, runs)
	body := hammerTable(rep, format == formatMarkdown) + "\n"
	for _, note := range hammerNotes(rep) {
		if format == formatText {
			note = text.WrapSoft(note, 100)
		}
		body += "\n" + note + "\n"
	}
	body = trailingBlanks.ReplaceAllString(body, "")
	_, err := fmt.Fprintf(w, "%s\n%s", head, body)
	return err
}

func hammerRuns(rep *hammer.Report) (most int) {
	for _, r := range rep.Results {
		most = max(most, len(r.Runs))
	}
	return most
}

// hammerColumn is one figure of a result.
type hammerColumn struct {
	title string
	value func(r *hammer.Result) string
	words bool
}

func hammerColumns(rep *hammer.Report) []hammerColumn {
	columns := []hammerColumn{
		{title: "Algorithm", words: true, value: func(r *hammer.Result) string { return r.Algorithm }},
		{title: "Store", words: true, value: func(r *hammer.Result) string { return r.Store }},
	}
	if slices.ContainsFunc(rep.Results, func(r hammer.Result) bool { return r.LatencyUS > 0 }) {
		columns = append(columns, hammerColumn{title: "Latency", value: func(r *hammer.Result) string {
			return micros(r.LatencyUS)
		}})
	}
	return append(columns,
		hammerColumn{title: "Allowed (200)", value: func(r *hammer.Result) string { return span(r.Allowed()) }},
		hammerColumn{title: "Denied (429)", value: func(r *hammer.Result) string { return span(r.Denied()) }},
		hammerColumn{title: "Expected max", value: func(r *hammer.Result) string { return strconv.FormatInt(r.ExpectedMax, 10) }},
		hammerColumn{title: "Excess", value: func(r *hammer.Result) string { return span(r.Excess()) }},
		hammerColumn{title: "Verdict", words: true, value: func(r *hammer.Result) string { return r.String() }},
	)
}

func micros(us int64) string { return (time.Duration(us) * time.Microsecond).String() }

// span prints the least and the most.
func span(least, most int64) string {
	if least == most {
		return strconv.FormatInt(least, 10)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// hammerTable draws a table, or, for one result alone, a line per figure.
func hammerTable(rep *hammer.Report, markdown bool) string {
	columns := hammerColumns(rep)
	if len(rep.Results) == 1 && !markdown && rep.Results[0].Unsupported == "" {
		lines := ""
		for _, c := range columns {
			lines += fmt.Sprintf("%-15s%s\n", c.title+":", printable(c.value(&rep.Results[0])))
		}
		return lines[:len(lines)-1]
	}
	tw := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	tw.SetStyle(style)
	var heads table.Row
	var configs []table.ColumnConfig
	for i, c := range columns {
		heads = append(heads, c.title)
		config := table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
		if c.words {
			config.Align, config.AlignHeader = text.AlignLeft, text.AlignLeft
			if !markdown {
				config.WidthMax, config.WidthMaxEnforcer = 22, text.WrapSoft
			}
		}
		configs = append(configs, config)
	}
	tw.SetColumnConfigs(configs)
	tw.AppendHeader(heads)
	for i := range rep.Results {
		r := &rep.Results[i]
		if i > 0 && r.Store != rep.Results[i-1].Store {
			tw.AppendSeparator()
		}
		var row table.Row
		for j, c := range columns {
			switch {
			case r.Unsupported != "" && j >= 2 && j < len(columns)-1:
				row = append(row, "-")
			default:
				row = append(row, printable(c.value(r)))
			}
		}
		tw.AppendRow(row)
	}
	if markdown {
		return tw.RenderMarkdown()
	}
	return tw.Render()
}

// hammerNotes say why the figures are what they are.
func hammerNotes(rep *hammer.Report) (notes []string) {
	said := map[string]bool{}
	restarts := 0
	for i := range rep.Results {
		r := &rep.Results[i]
		restarts += r.Restarts()
		note := ""
		switch {
		case r.PerProcess && rep.Processes > 1:
			who := "On " + r.Store
			if r.Storeless {
				who = "With " + r.Algorithm
			}
			note = fmt.Sprintf("%s the counts lie in each process, and each process counts alone, so %d processes let %d x %d through. "+
				"One limit for all of them needs a store that they share.",
				who, rep.Processes, rep.Processes, r.ExpectedMax/int64(rep.Processes))
		case r.Verdict == hammer.Fewer && r.OK() && !r.Racy():
			note = fmt.Sprintf("%s on %s: its plan adds first and gives back what it then denies, so it can deny for a moment what "+
				"another's rollback would have freed. It never lets more through.", r.Algorithm, r.Store)
		case r.Verdict == hammer.Over && r.OK():
			note = "The racy ones look first and write later, and whoever looks in between sees the same free place. " +
				"They are here to be seen failing."
		}
		if note != "" && !said[note] {
			said[note] = true
			notes = append(notes, note)
		}
	}
	if restarts > 0 {
		notes = append(notes, fmt.Sprintf("%d runs started again, because time freed a place meanwhile, as at a window's boundary "+
			"(each at most %d times).", restarts, hammer.MaxRestarts))
	}
	return notes
}

// writeHammerCSV writes a line per run.
func writeHammerCSV(w io.Writer, rep *hammer.Report) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{ // its error stays, for Error below
		"algorithm", "store", "server", "plan", "latency_us", "run",
		"allowed", "denied", "errors", "expected_max", "verdict", "unsupported",
	})
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, r := range rep.Results {
		if len(r.Runs) == 0 {
			_ = c.Write([]string{r.Algorithm, r.Store, r.Server, r.Plan, number(r.LatencyUS), "", "", "", "", "", string(r.Verdict), r.Unsupported})
		}
		for i, count := range r.Runs {
			_ = c.Write([]string{
				r.Algorithm, r.Store, r.Server, r.Plan, number(r.LatencyUS), strconv.Itoa(i + 1),
				number(count.Allowed), number(count.Denied), number(count.Errors), number(r.ExpectedMax), string(r.Verdict), "",
			})
		}
	}
	c.Flush()
	return c.Error()
}
