package versus

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/weirlimits/weir/bench/peers"
	"github.com/weirlimits/weir/internal/digits"
)

// WriteText writes the results as tables, one for each store.
func (r *Results) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, server := range r.Environment.Servers {
		fmt.Fprintf(t, "%s: %s\n", server.Store, server.Server)
	}
	fmt.Fprintf(t, "%s, %d CPUs, %s\n", r.Environment.CPU, r.Environment.CPUs, r.Environment.Go)
	for _, store := range []string{peers.Memory, peers.Redis, peers.Memcache} {
		r.writeStore(t, store)
	}
	fmt.Fprintln(t, "\nmax in window: most admitted in any window of", preciseLimit, "- in real time what is certain")
	fmt.Fprintln(t, "false denials: although a place was free, of steady requests at 0.9 and at 2 times the limit's rate")
	if r.Incomplete != "" {
		fmt.Fprintln(t, "\nincomplete:", r.Incomplete)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("versus: writing tables: %w", err)
	}
	return nil
}

func (r *Results) writeStore(w io.Writer, store string) {
	var rows []*Row
	var widest *Row // whose measures head the columns
	for _, row := range r.Rows {
		if row.Store != store {
			continue
		}
		rows = append(rows, row)
		if widest == nil || len(row.Speed)+len(row.Memory) > len(widest.Speed)+len(widest.Memory) {
			widest = row
		}
	}
	if widest == nil {
		return
	}
	heads := []string{"on " + store, "version", "max in window", "time", "false denials"}
	for _, m := range widest.Memory {
		heads = append(heads, fmt.Sprintf("bytes %sx%d", digits.Group(m.Keys), m.Events))
	}
	for _, s := range widest.Speed {
		head := fmt.Sprintf("%d callers/s", s.Callers)
		if store == peers.Memory {
			head = fmt.Sprintf("ns %s", many(s.Keys, "key"))
		}
		heads = append(heads, head)
	}
	heads = append(heads, "cannot")
	fmt.Fprintf(w, "\n%s\n", strings.Join(heads, "\t"))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row.cells(store, len(widest.Memory), len(widest.Speed)), "\t"))
	}
}

// cells are the row's, with blanks where a measure is missing.
func (row *Row) cells(store string, memories, speeds int) []string {
	cells := []string{row.Name, row.Version}
	switch p := row.Precision; {
	case p == nil:
		cells = append(cells, "", "", "")
	case p.NA != "":
		cells = append(cells, "n/a", "", "n/a")
	default:
		time := "real"
		if p.Simulated {
			time = "simulated"
		}
		cells = append(cells, fmt.Sprint(p.MaxInWindow), time, fmt.Sprintf("%d+%d", p.Steady.FalseDenied, p.Pushed.FalseDenied))
	}
	for i := range memories {
		cell := ""
		if i < len(row.Memory) {
			cell = fmt.Sprintf("%.0f", row.Memory[i].BytesPerKey)
		}
		cells = append(cells, cell)
	}
	for i := range speeds {
		cells = append(cells, row.speedCell(store, i))
	}
	last := row.Cannot
	if row.Needs != "" {
		last = []string{"needs " + row.Needs}
	}
	if row.Error != "" {
		last = append(slices.Clone(last), "error: "+row.Error)
	}
	return append(cells, strings.Join(last, ", "))
}

func (row *Row) speedCell(store string, i int) string {
	switch {
	case i >= len(row.Speed):
		return ""
	case row.Speed[i].NA != "":
		return "n/a"
	case store == peers.Memory:
		return fmt.Sprintf("%.0f ±%.0f%%", row.Speed[i].NSPerOp, 50*row.Speed[i].Spread)
	}
	return fmt.Sprintf("%s ±%.0f%%", digits.Group(int(row.Speed[i].PerSecond)), 50*row.Speed[i].Spread)
}
