package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

func writeProofs(w io.Writer, format string, all []proof) error {
	switch format {
	case formatJSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string][]proof{"proofs": all})
	case formatCSV:
		return writeProofCSV(w, all)
	}
	markdown := format == formatMarkdown
	body := proofHead + "\n" + proofTable(all, markdown) + "\n\n" + proofLines(all, markdown)
	_, err := io.WriteString(w, trailingBlanks.ReplaceAllString(body, ""))
	return err
}

const proofHead = `Every pattern of requests of cost 1 to 3, at L per W ticks: declared / found.
Long run: the most that anyone gets, and what one gets who never stops asking, in parts of L per W.
`

func proofTable(all []proof, markdown bool) string {
	tw := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	tw.SetStyle(style)
	heads := table.Row{"Algorithm", "L", "W", "Max in W", "Deficit", "for at most", "Long run", "Insistent", "States", "Holds"}
	tw.AppendHeader(heads)
	var configs []table.ColumnConfig
	for i := range heads[1:] {
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	tw.SetColumnConfigs(configs)
	for i := range all {
		p := &all[i]
		if p.Unexplored != "" {
			tw.AppendRow(table.Row{printable(p.Algorithm), "-", "-", "-", "-", "-", "-", "-", "-", "-"})
			continue
		}
		both := func(figure func(*proofFigures) string) string {
			return figure(p.Declared) + " / " + figure(p.Found)
		}
		holds := "yes"
		if !p.Holds {
			holds = "NO"
		}
		tw.AppendRow(table.Row{
			printable(p.Algorithm), p.Limit, p.WindowUS,
			both(func(f *proofFigures) string { return strconv.FormatInt(f.MaxInWindow, 10) }),
			both(func(f *proofFigures) string { return strconv.FormatInt(f.Deficit, 10) }),
			both(func(f *proofFigures) string {
				if f.DeficitForUS == 0 {
					return "-"
				}
				return strconv.FormatInt(f.DeficitForUS, 10)
			}),
			fmt.Sprintf("%.3f", p.LongRun), fmt.Sprintf("%.3f", p.Insistent), p.States, holds,
		})
	}
	if markdown {
		return tw.RenderMarkdown()
	}
	return tw.Render()
}

// proofLines tells how each worst case comes about.
func proofLines(all []proof, markdown bool) (lines string) {
	for i := range all {
		p := &all[i]
		by := [][2]string{{"max in W", p.MaxBy}, {"deficit", p.DeficitBy}}
		if p.Unexplored != "" {
			by = [][2]string{{"not explored", p.Unexplored}}
		}
		for _, line := range by {
			switch {
			case line[1] == "":
			case markdown:
				lines += fmt.Sprintf("- `%s`, %s: %s\n", printable(p.Algorithm), line[0], line[1])
			default:
				lines += fmt.Sprintf("%s, %s: %s\n", printable(p.Algorithm), line[0], line[1])
			}
		}
	}
	return lines
}

func writeProofCSV(w io.Writer, all []proof) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{ // its error stays, for Error below
		"algorithm", "limit", "window_us", "declared_max_in_window", "max_in_window", "declared_deficit", "deficit",
		"declared_deficit_for_us", "deficit_for_us", "long_run", "insistent", "states", "holds", "max_by", "deficit_by", "unexplored",
	})
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	share := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for i := range all {
		p := &all[i]
		if p.Unexplored != "" {
			row := make([]string, 16)
			row[0], row[15] = p.Algorithm, p.Unexplored
			_ = c.Write(row)
			continue
		}
		_ = c.Write([]string{
			p.Algorithm, number(p.Limit), number(p.WindowUS),
			number(p.Declared.MaxInWindow), number(p.Found.MaxInWindow), number(p.Declared.Deficit), number(p.Found.Deficit),
			number(p.Declared.DeficitForUS), number(p.Found.DeficitForUS),
			share(p.LongRun), share(p.Insistent), strconv.Itoa(p.States), strconv.FormatBool(p.Holds), p.MaxBy, p.DeficitBy, "",
		})
	}
	c.Flush()
	return c.Error()
}
