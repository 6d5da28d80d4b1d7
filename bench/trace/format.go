package trace

import (
	"bytes"
	"fmt"
)

const (
	formatCLF      = "clf"
	formatCombined = "combined"
	formatCSV      = "csv"
	formatNDJSON   = "ndjson"
)

const validLine = `an access log line (host - user [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 17), CSV (time,key,cost) or NDJSON ({"time":971211336.5,"key":"alice"})`

// newParser returns the parser for the options, or one that waits for the first line that a format recognises.
// It writes the format's name as soon as that is known.
func newParser(opts *Options, format *string) (parser, error) {
	m, err := newMatcher(opts.Match)
	if err != nil {
		return nil, err
	}
	p := &formats{key: opts.Key, match: m, name: format}
	if opts.Format == "" {
		return p, nil
	}
	if err := p.choose(opts.Format); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return p.chosen, nil
}

// formats picks a format by the first line that it can read, which need not be the first of all.
type formats struct {
	key    string
	match  *matcher
	name   *string
	chosen parser
}

func (p *formats) parse(line []byte, rec *record) (verdict, error) {
	if p.chosen == nil {
		format := recognise(line)
		if format == "" {
			rec.fault = fault{field: "text", got: line, rule: "is in no known format; valid is " + validLine}
			if bytes.IndexByte(line, 0) >= 0 {
				rec.fault.field, rec.fault.got = "binary data", nil
			}
			return bad, nil
		}
		if err := p.choose(format); err != nil {
			return bad, err
		}
	}
	return p.chosen.parse(line, rec)
}

func (p *formats) choose(format string) (err error) {
	switch format {
	case formatCLF, formatCombined:
		p.chosen, err = newCLF(p.key, p.match)
	case formatCSV:
		p.chosen = newCSV(p.key, p.match)
	case formatNDJSON:
		p.chosen = newNDJSON(p.key, p.match)
	default:
		return fmt.Errorf(`Options.Format %q is unknown; valid is "clf", "combined", "csv", "ndjson", or empty to detect it`, format)
	}
	*p.name = format
	return err
}

func recognise(line []byte) string {
	switch {
	case isCombined(line):
		return formatCombined
	case isCLF(line):
		return formatCLF
	case isNDJSON(line):
		return formatNDJSON
	case isCSV(line):
		return formatCSV
	}
	return ""
}
