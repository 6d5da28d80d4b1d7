// Package trace reads recorded traffic: access logs in the Common and Combined Log Format, CSV and NDJSON, plain or
// compressed with gzip. What it returns is a list of events in order of time, and an honest account of every line
// that did not become one.
//
// In CSV and NDJSON a time is seconds since the Unix epoch, decimals allowed and kept exactly to the microsecond, or
// RFC 3339; the cost is optional. CSV has a header that names the columns time, key and cost, in any order and among
// others, or no header and these columns in this order. A record is one line.
//
// A bad line is counted and the first one is explained; it never ends the reading. A trace without one good line is
// an error. Lines may be megabytes long, hold any bytes, end in CRLF, and come out of order.
package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Event is one request.
type Event struct {
	Time int64  // microseconds since the Unix epoch
	Key  string // who asked: the client, or whatever Options.Key names
	Cost int64  // how many requests it counts for, at least 0; 1 in an access log
}

// Options say how a trace is read. The zero value, and a nil *Options, detect the format and take every line.
type Options struct {
	// Format is "clf", "combined", "csv" or "ndjson". Empty, the first line that one of them can read decides.
	// "clf" and "combined" name the same reader: lines of both kinds may be mixed.
	Format string

	// Key names the field that becomes Event.Key. In an access log it is "host" (the default: the first token, never
	// parsed as an address), "user", "path" (without the query), "method", "status", "referer" or "agent". In CSV
	// and NDJSON it is the name of a column or member, by default "key". A line without it is a bad line.
	Key string

	// Match keeps only some requests: "POST /login" by method and path, "/login" whatever the method. A path matches
	// itself and what is below it; with a trailing * it is a prefix. The query is ignored, and so is the method's
	// case. In CSV and NDJSON the fields "method" and "path" are compared. Empty keeps all.
	Match string

	// Horizon is how far a line may lie before the latest line above it and still be sorted in. Those farther back are
	// dropped and counted in Trace.Late. Zero means 24 hours; less than a microsecond tolerates no step back.
	Horizon time.Duration

	// Anonymize turns every key into 16 hexadecimal digits of its HMAC-SHA-256, the same key into the same digits, and
	// keeps the text of lines out of FirstBad and of errors.
	Anonymize bool

	// Salt is the secret of Anonymize. Traces read with the same salt share their tokens; without one, a random salt
	// is drawn for each trace.
	Salt []byte
}

// Trace is what was read. Every line is in exactly one of len(Events), Skipped, Bad, Unmatched and Late, so that
// these add up to Lines.
type Trace struct {
	Name   string  // the file's path, or "standard input"
	Format string  // "clf", "combined", "csv" or "ndjson"
	Events []Event // ordered by time; those of one time in the order of their lines
	Keys   int     // distinct keys in Events

	Lines     int // all lines, the blank ones included
	Skipped   int // blank lines, and the header of a CSV file
	Bad       int // lines that could not be read
	Unmatched int // good lines that Options.Match left out
	Late      int // good lines dropped for stepping back beyond Options.Horizon
	Backward  int // good lines earlier than the good line before them, late ones included

	FirstBad string   // number of the first bad line, and what is wrong with it; empty if Bad is 0
	Warnings []string // what else a reader of the results should know, one line each

	// Resolution is the coarsest step that divides all times: a power of ten from 1us to 1s, and where ten or more
	// distinct times agree on it also 10s, 1m or 1h. For an access log it is 1s, less if its times have decimals.
	Resolution time.Duration

	Start, End int64 // first and last event, microseconds since the Unix epoch
}

// CoarseFor reports whether the trace's times are too coarse to judge a limit over this window: whether the window is
// shorter than ten times the resolution.
func (t *Trace) CoarseFor(window time.Duration) bool {
	return window < 10*t.Resolution
}

// Open reads the trace in a file. The path "-" is standard input. Gzip is recognised by its content, whatever the
// file is called.
//
// The error says in one line what is wrong: no such file (it unwraps to fs.ErrNotExist), a directory, nothing in it,
// not one good line, an option that does not fit.
func Open(path string, opts *Options) (*Trace, error) {
	if path == "-" {
		return Read(os.Stdin, "standard input", opts)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("trace: %s: is a directory; valid is a file, or - for standard input", path)
	}
	return Read(f, path, opts)
}

// Read reads a trace to its end and keeps it in memory. The name stands in the result and in errors. If the data is
// gzip and breaks off or is damaged, what came before is kept and Trace.Warnings says so; any other failure to read is
// an error.
func Read(r io.Reader, name string, opts *Options) (*Trace, error) {
	if opts == nil {
		opts = &Options{}
	}
	c, err := newCollector(name, opts)
	if err != nil {
		return nil, err
	}
	src, zipped, err := unpack(r)
	if err != nil {
		return nil, fmt.Errorf("trace: %s: %w", name, err)
	}
	if err := c.readAll(newLines(src), zipped); err != nil {
		return nil, err
	}
	return c.finish()
}

// readAll gives every line to the collector.
func (c *collector) readAll(in *lines, zipped bool) error {
	for {
		line, err := in.next()
		switch {
		case err == nil:
			err = c.line(line)
		case errors.Is(err, errLong):
			c.bad(fault{field: "text", rule: "must be no longer than 16 MiB"})
			err = nil
		case err == io.EOF:
			return nil
		case zipped:
			c.cut(line, err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("trace: %s: %w", c.t.Name, err)
		}
	}
}
