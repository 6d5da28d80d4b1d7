package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/choose"
	"github.com/weirlimits/weir/internal/digits"
)

// choice is an answer as it is printed.
type choice struct {
	Store      string         `json:"store"`
	Class      string         `json:"class"`
	Limit      string         `json:"limit"`
	Clients    int64          `json:"clients"`
	Memory     int64          `json:"memory_bytes,omitempty"`
	Tolerated  string         `json:"tolerated"`
	Best       string         `json:"recommendation"`
	Within     bool           `json:"within_tolerance"`
	Reason     string         `json:"reason"`
	Changes    []string       `json:"changes,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
	Measured   *confirmed     `json:"measured,omitempty"`
	Algorithms []choiceResult `json:"algorithms"` // ranked ones first
}

type choiceResult struct {
	Algorithm     string         `json:"algorithm"`
	Rank          int            `json:"rank,omitempty"`    // 1 is best; refused ones have none
	Refused       string         `json:"refused,omitempty"` // why
	Plan          string         `json:"plan,omitempty"`
	MaxInWindow   int64          `json:"max_in_window"`
	EarlyDenial   float64        `json:"early_denial"` // declared, as a part of the limit or of the window
	Trips         int            `json:"trips,omitempty"`
	FullBytes     float64        `json:"full_bytes,omitempty"`     // of one client that used its whole limit
	ExpectedBytes float64        `json:"expected_bytes,omitempty"` // of one client of the traffic given
	BytesError    float64        `json:"bytes_error,omitempty"`
	TotalBytes    float64        `json:"total_bytes,omitempty"` // expected, of all clients
	PerSecond     float64        `json:"per_second,omitempty"`
	SharedTrips   float64        `json:"per_second_shared_trips,omitempty"`
	Errors        *choose.Errors `json:"errors,omitempty"`
}

// confirmed is what was measured of the recommendation on the store.
type confirmed struct {
	Store        string  `json:"store"`
	Server       string  `json:"server"`
	Limit        string  `json:"limit"`    // by which decisions are judged
	Requests     int64   `json:"requests"` // that the measured key holds
	BytesPerKey  float64 `json:"bytes_per_key,omitempty"`
	Estimate     float64 `json:"estimated_bytes,omitempty"` // of such a key, where it is the full one
	NA           string  `json:"na,omitempty"`              // why there are no bytes
	Decisions    int64   `json:"decisions"`
	MaxInWindow  int64   `json:"max_in_window"`
	OverAdmitted int64   `json:"over_admitted"`
	FalseDenied  int64   `json:"false_denied"`
}

func newConfirmed(res *bench.Results, requests int64) *confirmed {
	r := res.Results[0]
	c := &confirmed{Store: r.Store, Server: res.Environment.Servers[0].Server, Limit: res.Limit.Text, Requests: requests}
	for _, m := range r.Memory {
		c.BytesPerKey, c.NA = m.BytesPerKey, m.NA
	}
	for _, p := range r.Precision {
		c.Decisions += p.Events
		c.MaxInWindow = max(c.MaxInWindow, p.MaxInWindow)
		c.OverAdmitted += p.OverAdmitted
		c.FalseDenied += p.FalseDenied
	}
	return c
}

func newChoice(a *choose.Answer, limit string) *choice {
	c := &choice{
		Store: a.Store.Name, Class: a.Store.Class().String(), Limit: limit, Clients: a.Want.Clients, Memory: a.Want.Memory,
		Tolerated: a.Want.Tolerance(), Within: a.Within, Reason: a.Reason, Changes: a.Changes, Notes: a.Notes,
	}
	if a.Best != nil {
		c.Best = a.Best.Algorithm.String()
	}
	for i, one := range slices.Concat(a.Ranked, a.Refused) {
		r := choiceResult{
			Algorithm: one.Algorithm.String(), Refused: one.Refused, Plan: one.Plan.Name,
			MaxInWindow: one.MaxInWindow, EarlyDenial: one.Deny, Trips: one.Trips,
			FullBytes: hundredths(one.Bytes.Full), ExpectedBytes: hundredths(one.Bytes.Expected),
			BytesError: one.Bytes.Error, TotalBytes: math.Round(a.Total(one)),
			PerSecond: one.Speed.PerSecond, SharedTrips: one.Speed.Gathered, Errors: one.Errors,
		}
		if one.Refused == "" {
			r.Rank = i + 1
		}
		c.Algorithms = append(c.Algorithms, r)
	}
	return c
}

func hundredths(v float64) float64 { return math.Round(v*100) / 100 }

func (c *choice) render(b *bytes.Buffer, format string) error {
	switch format {
	case formatJSON:
		e := json.NewEncoder(b)
		e.SetIndent("", "  ")
		return e.Encode(c)
	case formatCSV:
		return c.csv(b)
	}
	c.words(b, format == formatMarkdown)
	return nil
}

const chooseColumns = 120 // of text

func (c *choice) words(b *bytes.Buffer, markdown bool) {
	line := func(s string) {
		if !markdown {
			s = trailingBlanks.ReplaceAllString(text.WrapSoft(s, chooseColumns), "")
		}
		fmt.Fprintln(b, s)
	}
	head := func(s string) {
		if markdown {
			s = "## " + s + "\n"
		}
		fmt.Fprintf(b, "\n%s\n", s)
	}
	for _, s := range []string{c.question(), "", c.recommendation(), "", c.Reason} {
		line(s)
	}
	if c.Measured != nil {
		line("")
		line(c.Measured.String())
	}
	head("Ranked, best first:")
	fmt.Fprintln(b, c.table(markdown))
	for _, list := range []struct {
		head  string
		lines []string
	}{{"Refused:", c.refused()}, {"What would change it:", c.Changes}, {"To know:", c.Notes}} {
		if len(list.lines) == 0 {
			continue
		}
		head(list.head)
		for _, s := range list.lines {
			line("- " + s)
		}
	}
}

func (c *choice) question() string {
	memory := ""
	if c.Memory > 0 {
		memory = " in " + bytesText(float64(c.Memory))
	}
	return fmt.Sprintf("%s for %s clients on %s (%s)%s, tolerated: %s.",
		c.Limit, digits.Group(c.Clients), c.Store, c.Class, memory, c.Tolerated)
}

func (c *choice) recommendation() string {
	switch {
	case c.Best == "":
		return "Nothing to recommend."
	case !c.Within:
		return "Take " + c.Best + ", the nearest to what is tolerated."
	default:
		return "Take " + c.Best + "."
	}
}

func (c *choice) refused() (lines []string) {
	for _, r := range c.Algorithms {
		if r.Refused != "" {
			lines = append(lines, r.Algorithm+": "+r.Refused)
		}
	}
	return lines
}

func (c *choice) table(markdown bool) string {
	tw := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	tw.SetStyle(style)
	heads := table.Row{
		"Algorithm", "Max in W", "Early", "Seen over", "denied", "Trips", "Bytes each", "In all", "Per second", "Shared trips",
	}
	tw.AppendHeader(heads)
	var configs []table.ColumnConfig
	for i := range heads[1:] {
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	tw.SetColumnConfigs(configs)
	for _, r := range c.Algorithms {
		if r.Rank == 0 {
			continue
		}
		over, denied := "-", "-"
		if e := r.Errors; e != nil {
			over, denied = shareText(e.Over), shareText(e.Denied)
		}
		tw.AppendRow(table.Row{
			r.Algorithm, digits.Group(r.MaxInWindow), shareText(r.EarlyDenial), over, denied, r.Trips,
			digits.Group(int64(math.Round(r.FullBytes))), bytesText(r.TotalBytes),
			perSecondText(r.PerSecond), perSecondText(r.SharedTrips),
		})
	}
	if markdown {
		return tw.RenderMarkdown()
	}
	return trailingBlanks.ReplaceAllString(tw.Render(), "")
}

// shareText prints a part of a whole, the small ones too.
func shareText(part float64) string {
	if part == 0 {
		return "0"
	}
	return strconv.FormatFloat(part*100, 'g', 2, 64) + "%"
}

// perSecondText prints two digits that matter: the rest is noise.
func perSecondText(v float64) string {
	if v == 0 {
		return "-"
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return digits.Group(int64(math.Round(v/unit) * unit))
}

func bytesText(v float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	i := 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + units[i]
}

func (c *choice) csv(b *bytes.Buffer) error {
	w := csv.NewWriter(b) // it keeps its first error until Flush
	_ = w.Write([]string{
		"algorithm", "rank", "refused", "plan", "max_in_window", "early_denial", "seen_over", "seen_denied", "trips",
		"full_bytes", "expected_bytes", "total_bytes", "per_second", "per_second_shared_trips",
	})
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	for _, r := range c.Algorithms {
		rank, over, denied := "", "", ""
		if r.Rank > 0 {
			rank = strconv.Itoa(r.Rank)
		}
		if r.Errors != nil {
			over, denied = strconv.FormatFloat(r.Errors.Over, 'f', -1, 64), strconv.FormatFloat(r.Errors.Denied, 'f', -1, 64)
		}
		_ = w.Write([]string{
			r.Algorithm, rank, r.Refused, r.Plan,
			strconv.FormatInt(r.MaxInWindow, 10), strconv.FormatFloat(r.EarlyDenial, 'f', -1, 64), over, denied, number(float64(r.Trips)),
			number(r.FullBytes), number(r.ExpectedBytes), number(r.TotalBytes), number(r.PerSecond), number(r.SharedTrips),
		})
	}
	w.Flush()
	return w.Error()
}
