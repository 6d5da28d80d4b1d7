package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// ndjsonParser reads one JSON object a line.
type ndjsonParser struct {
	key     string
	match   *matcher
	members map[string]json.RawMessage
}

func newNDJSON(key string, match *matcher) *ndjsonParser {
	if key == "" {
		key = "key"
	}
	return &ndjsonParser{key: key, match: match}
}

func isNDJSON(line []byte) bool {
	p := newNDJSON("", nil)
	return p.decode(line) && p.members["time"] != nil
}

func (p *ndjsonParser) decode(line []byte) bool {
	clear(p.members)
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte{'{'}) && json.Unmarshal(line, &p.members) == nil
}

func (p *ndjsonParser) parse(line []byte, rec *record) (verdict, error) {
	if !p.decode(line) {
		rec.fault = fault{field: "text", got: line, rule: `must be one JSON object, as in {"time":971211336.5,"key":"alice","cost":1}`}
		return bad, nil
	}
	at := p.text("time")
	var rule string
	if rec.time, rule = parseTime(at); rule != "" {
		rec.fault = fault{field: "time", got: p.members["time"], rule: rule}
		return bad, nil
	}
	key := p.text(p.key)
	if rec.key = append(rec.key, key...); len(rec.key) == 0 {
		rec.fault = fault{field: "member " + strconv.Quote(p.key), got: p.members[p.key], rule: "must be a string that is not empty, or a number"}
		return bad, nil
	}
	if cost := p.members["cost"]; cost != nil && string(cost) != "null" {
		text := p.text("cost")
		if rec.cost, rule = parseCost(text); rule != "" {
			rec.fault = fault{field: "cost", got: cost, rule: rule}
			return bad, nil
		}
	}
	if p.match != nil {
		method, path := p.text("method"), p.text("path")
		if !p.match.match([]byte(method), pathOf([]byte(path))) {
			return unmatched, nil
		}
	}
	return good, nil
}

// text is the string in a member, or its number as it is written; empty if it is neither.
func (p *ndjsonParser) text(member string) string {
	raw := p.members[member]
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		json.Unmarshal(raw, &s) // the line was valid JSON, so this string is
		return s
	case c == '-' || '0' <= c && c <= '9':
		return string(raw)
	}
	return ""
}
