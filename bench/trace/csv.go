package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// csvParser reads CSV, a record a line: a field cannot hold a line end, so that a stray quote spoils one line only.
type csvParser struct {
	key   string // Options.Key
	match *matcher

	line   feed
	reader *csv.Reader

	columns            []string // the header; nil if there is none
	started            bool     // the columns are known
	time, who, cost    int      // where they are; -1: not there
	method, path, most int
}

func newCSV(key string, match *matcher) *csvParser {
	p := &csvParser{key: key, match: match}
	p.reader = csv.NewReader(&p.line)
	p.reader.FieldsPerRecord = -1
	p.reader.ReuseRecord = true
	p.reader.TrimLeadingSpace = true
	return p
}

// feed gives the csv.Reader one line and then the end of the file, again and again.
type feed struct{ rest []byte }

func (f *feed) Read(b []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (p *csvParser) fields(line []byte) ([]string, error) {
	p.line.rest = line
	return p.reader.Read()
}

func isCSV(line []byte) bool {
	fields, err := newCSV("", nil).fields(line)
	if err != nil || len(fields) < 2 {
		return false
	}
	_, rule := parseTime(strings.TrimSpace(fields[0]))
	return rule == "" || find(fields, "time") >= 0
}

func (p *csvParser) parse(line []byte, rec *record) (verdict, error) {
	fields, err := p.fields(line)
	if err != nil {
		rec.fault = fault{field: "text", got: line, rule: "must be CSV with each quoted field closed on its line"}
		return bad, nil
	}
	if !p.started {
		if v, err := p.start(fields, rec); v != good || err != nil {
			return v, err
		}
	}
	if len(fields) > p.most {
		rec.fault = fault{field: "text", got: line, rule: fmt.Sprintf("must have no more than the %d fields %q", p.most, p.names())}
		return bad, nil
	}
	return p.read(fields, rec), nil
}

// start learns the columns from a header, or from a first line that has its time where a file without a header has it.
func (p *csvParser) start(fields []string, rec *record) (verdict, error) {
	if p.time = find(fields, "time"); p.time >= 0 {
		return skipped, p.header(fields)
	}
	p.time, p.who, p.cost, p.method, p.path, p.most = 0, 1, 2, -1, -1, 3
	if _, rule := parseTime(strings.TrimSpace(fields[0])); rule != "" {
		rec.fault = fault{field: "time", got: []byte(fields[0]), rule: rule + "; or the line must be a header with time and key"}
		return bad, nil
	}
	if p.key != "" && !strings.EqualFold(p.key, "key") {
		return bad, fmt.Errorf("Options.Key %q needs a header line with that column; without a header the columns are time,key,cost", p.key)
	}
	if p.match != nil {
		return bad, errors.New("Options.Match needs a header line with a column path; without a header the columns are time,key,cost")
	}
	p.started = true
	return good, nil
}

func (p *csvParser) header(fields []string) error {
	for _, f := range fields {
		p.columns = append(p.columns, strings.TrimSpace(f))
	}
	key := p.key
	if key == "" {
		key = "key"
	}
	p.who, p.cost = find(fields, key), find(fields, "cost")
	p.method, p.path = find(fields, "method"), find(fields, "path")
	p.most, p.started = len(fields), true
	if p.who < 0 {
		return fmt.Errorf("Options.Key: there is no column %q; the header has %q", key, p.names())
	}
	if p.match != nil && (p.path < 0 || p.match.method != "" && p.method < 0) {
		return fmt.Errorf("Options.Match needs columns path and, if it names a method, method; the header has %q", p.names())
	}
	return nil
}

func (p *csvParser) names() string {
	if p.columns == nil {
		return "time,key,cost"
	}
	return strings.Join(p.columns, ",")
}

func (p *csvParser) read(fields []string, rec *record) verdict {
	var rule string
	at := strings.TrimSpace(field(fields, p.time))
	if rec.time, rule = parseTime(at); rule != "" {
		rec.fault = fault{field: "time", got: []byte(at), rule: rule}
		return bad
	}
	if rec.key = append(rec.key, field(fields, p.who)...); len(rec.key) == 0 {
		rec.fault = fault{field: "key", rule: "must not be missing or empty"}
		return bad
	}
	if cost := strings.TrimSpace(field(fields, p.cost)); cost != "" {
		if rec.cost, rule = parseCost(cost); rule != "" {
			rec.fault = fault{field: "cost", got: []byte(cost), rule: rule}
			return bad
		}
	}
	if p.match != nil && !p.match.match([]byte(field(fields, p.method)), pathOf([]byte(field(fields, p.path)))) {
		return unmatched
	}
	return good
}

// field is a line's field, empty where the line or the file does not have it.
func field(fields []string, i int) string {
	if i < 0 || i >= len(fields) {
		return ""
	}
	return fields[i]
}

func find(fields []string, name string) int {
	for i, f := range fields {
		if strings.EqualFold(strings.TrimSpace(f), name) {
			return i
		}
	}
	return -1
}
