package trace

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"
)

const defaultHorizon = 24 * time.Hour

// verdict is what became of a line.
type verdict int

const (
	good verdict = iota
	bad
	unmatched
	skipped
)

// record is what a parser reads from one line. The key is valid until the next line.
type record struct {
	time, cost int64
	key        []byte
	fault      fault // set with the verdict bad
}

// parser reads the lines of one format. An error ends the reading: the options do not fit the file.
type parser interface {
	parse(line []byte, rec *record) (verdict, error)
}

// fault tells why a line is bad. It is cheap to make, since most are only counted.
type fault struct {
	field string // what is wrong
	got   []byte // the offending text, if there is one
	rule  string // what would be valid
}

func (f fault) describe(line int, private bool) string {
	const longest = 40
	got := ""
	if len(f.got) > longest {
		got = fmt.Sprintf(" %q...", f.got[:longest])
	} else if len(f.got) > 0 {
		got = fmt.Sprintf(" %q", f.got)
	}
	if private {
		got = "" // the text of a line can name a client
	}
	return fmt.Sprintf("line %d: %s%s %s", line, f.field, got, f.rule)
}

// collector turns lines into a trace and keeps its accounts.
type collector struct {
	t       *Trace
	opts    *Options
	horizon int64 // microseconds
	keys    *keyring
	parser  parser
	rec     record

	last       int64 // time of the good line before this one
	latest     int64 // latest time so far
	latestLine int
	started    bool
}

func newCollector(name string, opts *Options) (*collector, error) {
	if opts.Horizon < 0 {
		return nil, fmt.Errorf("trace: Options.Horizon %v is negative; valid is 0 (24h) or more", opts.Horizon)
	}
	horizon := opts.Horizon
	if horizon == 0 {
		horizon = defaultHorizon
	}
	c := &collector{
		t:       &Trace{Name: name},
		opts:    opts,
		horizon: horizon.Microseconds(),
		keys:    newKeyring(opts),
	}
	var err error
	c.parser, err = newParser(opts, &c.t.Format)
	return c, err
}

// line accounts for one line. Its error is one that no further line can mend.
func (c *collector) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		c.t.Lines++
		c.t.Skipped++
		return nil
	}
	c.rec = record{cost: 1, key: c.rec.key[:0]}
	v, err := c.parser.parse(line, &c.rec)
	if err != nil {
		return err
	}
	switch v {
	case bad:
		c.bad(c.rec.fault)
		return nil
	case unmatched:
		c.t.Unmatched++
	case skipped:
		c.t.Skipped++
	case good:
		c.add()
	}
	c.t.Lines++
	return nil
}

func (c *collector) bad(f fault) {
	c.t.Lines++
	c.t.Bad++
	if c.t.Bad == 1 {
		c.t.FirstBad = f.describe(c.t.Lines, c.opts.Anonymize)
	}
}

// cut accounts for the end of damaged gzip data. The line that it breaks is bad even if it looks whole: its key may
// have lost its end.
func (c *collector) cut(line []byte, err error) {
	if len(line) > 0 {
		c.bad(fault{field: "text", rule: "is cut off by the end of the gzip data"})
	}
	c.t.Warnings = append(c.t.Warnings,
		fmt.Sprintf("the gzip data is damaged or cut short after line %d (%v); what came before is kept", c.t.Lines, err))
}

// add keeps the record, or drops it as late.
func (c *collector) add() {
	at := c.rec.time
	if c.started && at < c.last {
		c.t.Backward++
	}
	c.last = at
	if !c.started || at > c.latest {
		c.started, c.latest, c.latestLine = true, at, c.t.Lines+1
	}
	if c.latest-at > c.horizon {
		c.t.Late++
		return
	}
	c.t.Events = append(c.t.Events, Event{Time: at, Key: c.keys.intern(c.rec.key), Cost: c.rec.cost})
}

// finish sorts the events and completes the accounts.
func (c *collector) finish() (*Trace, error) {
	t := c.t
	if len(t.Events) == 0 {
		return nil, fmt.Errorf("trace: %s: %s", t.Name, c.nothing())
	}
	if t.Backward > 0 {
		slices.SortStableFunc(t.Events, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) })
	}
	if t.Late > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("dropped as late: %d, more than %v before the latest line above them (the latest of all is line %d, %s)",
			t.Late, time.Duration(c.horizon)*time.Microsecond, c.latestLine, time.UnixMicro(c.latest).UTC().Format(time.RFC3339Nano)))
	}
	t.Keys = c.keys.len()
	t.Start, t.End = t.Events[0].Time, t.Events[len(t.Events)-1].Time
	t.Resolution = resolution(t.Events, t.Format == formatCLF || t.Format == formatCombined)
	return t, nil
}

// nothing says why there is no event.
func (c *collector) nothing() string {
	t := c.t
	why := ""
	switch {
	case t.Lines == 0 && len(t.Warnings) == 0:
		return "is empty; valid is " + validLine
	case t.Lines == t.Skipped && len(t.Warnings) == 0:
		return "holds only blank lines or a header; valid is " + validLine
	case t.Unmatched > 0:
		why = fmt.Sprintf("no event: %d of %d lines are good, none matches %q", t.Unmatched, t.Lines, c.opts.Match)
	default:
		why = fmt.Sprintf("no good line in %d", t.Lines)
	}
	if t.FirstBad != "" {
		why += "; " + t.FirstBad
	}
	for _, w := range t.Warnings {
		why += "; " + w
	}
	return why
}
