package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimits/weir/bench/hammer/ask"
)

func writeAsk(b *bytes.Buffer, format string, r *ask.Report) error {
	switch format {
	case formatJSON:
		return writeAskJSON(b, r)
	case formatCSV:
		c := csv.NewWriter(b)
		_ = c.Write([]string{"figure", "value"}) // its error stays, for Error below
		for _, l := range askLines(r) {
			_ = c.Write([]string{l.what, l.value})
		}
		c.Flush()
		return c.Error()
	case formatMarkdown:
		b.WriteString("| Figure | Value |\n| :--- | :--- |\n")
		for _, l := range askLines(r) {
			fmt.Fprintf(b, "| %s | %s |\n", l.what, strings.ReplaceAll(printable(l.value), "|", "\\|"))
		}
		return nil
	}
	for _, l := range askLines(r) {
		fmt.Fprintf(b, "%-26s%s\n", l.what+":", printable(l.value))
	}
	return nil
}

type askLine struct{ what, value string }

// askLines are the report, a figure a line.
func askLines(r *ask.Report) []askLine {
	lines := []askLine{
		{"Asked", fmt.Sprintf("%s, limit %s", r.URL, r.Limit.Text)},
		{"Clients", map[string]string{
			"address": "told apart by their address", "header": "told apart by a header", "one": "all under one limit",
		}[r.Clients]},
		{"Allowed", strconv.FormatInt(r.Allowed, 10)},
		{"Denied", strconv.FormatInt(r.Denied, 10)},
	}
	if r.Errors > 0 {
		lines = append(lines, askLine{"Errors", fmt.Sprintf("%d, such as: %s", r.Errors, r.Error)})
	}
	lines = append(lines,
		askLine{"Most at once", ofLimit(r.AtOnce, r)},
		askLine{"Most in a window", ofLimit(r.MaxInWindow, r)})
	if r.HeldUS > 0 {
		held := (time.Duration(r.HeldUS) * time.Microsecond).Round(time.Millisecond)
		lines = append(lines, askLine{"Held back", fmt.Sprintf("up to %v, one after another: a queue", held)})
	}
	if r.Steady.Asked > 0 {
		lines = append(lines, askLine{"Steady after a burst", fmt.Sprintf("%d of %d allowed", r.Steady.Allowed, r.Steady.Asked)})
	}
	if r.RetryAfter.Denials > 0 {
		lines = append(lines, askLine{"Retry-After", retryAfterLine(r.RetryAfter)}, askLine{"Remaining", remainingLine(r.Remaining)})
	}
	for _, f := range r.Forged {
		lines = append(lines, askLine{"Forged " + f.Header, forgedLine(f)})
	}
	lines = append(lines, askLine{"Algorithm", r.Conclusion()})
	for _, c := range r.Candidates {
		lines = append(lines, askLine{"  " + c.Algorithm, candidateLine(c)})
	}
	return lines
}

func ofLimit(n int64, r *ask.Report) string {
	return fmt.Sprintf("%d (%.2f x the limit)", n, float64(n)/float64(r.Limit.Count))
}

func retryAfterLine(v ask.RetryAfter) string {
	text := string(v.Truth)
	if v.Waited > 0 {
		text += fmt.Sprintf(": %d of %d who waited were allowed", v.Held, v.Waited)
	}
	if v.Detail != "" {
		text += ": " + v.Detail
	}
	return text
}

func remainingLine(v ask.Remaining) string {
	text := string(v.Truth)
	if v.Field != "" {
		text = v.Field + ": " + text
	}
	if v.Truth == ask.False {
		text += fmt.Sprintf(": of %d answers %d promise too much and %d too little", v.Checked, v.Over, v.Under)
	}
	return text
}

func forgedLine(f ask.Forged) string {
	switch f.Fresh {
	case ask.True:
		return fmt.Sprintf("gets a fresh limit: %d of %d allowed", f.Allowed, f.Sent)
	case ask.False:
		return "gets none"
	default:
		return string(f.Fresh)
	}
}

func candidateLine(c ask.Candidate) string {
	switch {
	case !c.Consistent:
		return "ruled out by " + c.Detail
	case c.Detail != "":
		return "consistent, " + c.Detail
	default:
		return "consistent"
	}
}
