package trace

import (
	"bytes"
	"fmt"
	"time"
)

// clfParser reads access logs in the Common and the Combined Log Format:
//
//	host ident user [day/month/year:hour:minute:second zone] "request" status bytes "referer" "agent"
//
// Only the host and the time have to be there; the others matter where they are the key, or are matched.
type clfParser struct {
	key   string
	match *matcher
	stamp stampReader
	tail  bool // what follows the time is needed
}

func newCLF(key string, match *matcher) (*clfParser, error) {
	switch key {
	case "":
		key = "host"
	case "host", "user", "path", "method", "status", "referer", "agent":
	default:
		return nil, fmt.Errorf("Options.Key %q is no field of an access log; valid is host, user, path, method, status, referer, agent", key)
	}
	return &clfParser{key: key, match: match, tail: match != nil || key != "host" && key != "user"}, nil
}

func isCLF(line []byte) bool {
	var s stampReader
	_, ok := s.split(line)
	return ok
}

func isCombined(line []byte) bool {
	var s stampReader
	head, ok := s.split(line)
	return ok && splitTail(head.tail).agent != nil
}

func (p *clfParser) parse(line []byte, rec *record) (verdict, error) {
	head, ok := p.stamp.split(line)
	if len(head.host) == 0 {
		rec.fault = fault{field: "host", got: line, rule: "must come first in the line"}
		return bad, nil
	}
	if !ok {
		rec.fault = fault{field: "time", got: head.stamp, rule: "must stand in brackets, as in [10/Oct/2000:13:55:36 -0700], and lie between 1970 and 2200"}
		return bad, nil
	}
	rec.time = head.time
	var tail logTail
	if p.tail {
		tail = splitTail(head.tail)
	}
	if p.match != nil && !p.match.match(tail.method, tail.path) {
		return unmatched, nil
	}
	rec.key = append(rec.key, p.field(head, tail)...)
	if len(rec.key) == 0 {
		rec.fault = fault{field: p.key, rule: `must not be missing, empty or "-" where it is the key`}
		return bad, nil
	}
	return good, nil
}

func (p *clfParser) field(head logHead, tail logTail) []byte {
	switch p.key {
	case "host":
		return head.host
	case "user":
		return present(head.user())
	case "path":
		return tail.path
	case "method":
		return tail.method
	case "status":
		return present(tail.status)
	case "referer":
		return present(tail.referer)
	default:
		return present(tail.agent)
	}
}

// present turns the log's marks for "nothing" into nothing.
func present(b []byte) []byte {
	if s := string(b); s == "-" || s == `""` {
		return nil
	}
	return b
}

// logHead is a line up to its time.
type logHead struct {
	host  []byte
	names []byte // ident and user
	stamp []byte // the time as it stands there, for a message
	time  int64  // microseconds
	tail  []byte // what follows the time
}

// user is all between ident and time: a user's name may hold spaces.
func (h logHead) user() []byte {
	_, user, _ := bytes.Cut(bytes.TrimSpace(h.names), []byte{' '})
	return bytes.TrimSpace(user)
}

// stampReader reads times. It remembers the day, since almost every line has the day of the line before.
type stampReader struct {
	day      [11]byte // 10/Oct/2000
	midnight int64    // its start in seconds
}

// split finds the time: the last bracket before the first quote, because both a user and a request can hold text that
// looks like one.
func (s *stampReader) split(line []byte) (head logHead, ok bool) {
	space := bytes.IndexByte(line, ' ')
	if space < 0 {
		space = len(line)
	}
	head.host = line[:space]
	rest := line[space:]
	before := rest
	if q := firstQuote(rest); q >= 0 {
		before = rest[:q]
	}
	open := bytes.LastIndexByte(before, '[')
	if open < 1 || len(head.host) == 0 {
		return head, false
	}
	head.names = rest[:open]
	head.stamp, head.tail, ok = bytes.Cut(rest[open+1:], []byte{']'})
	if ok {
		head.time, ok = s.parse(head.stamp)
	}
	return head, ok
}

// firstQuote is where the request begins; an empty user is written "" too.
func firstQuote(b []byte) int {
	q := bytes.Index(b, []byte(` "`))
	if q >= 0 && bytes.HasPrefix(b[q:], []byte(` "" [`)) {
		next := bytes.Index(b[q+3:], []byte(` "`))
		if next < 0 {
			return -1
		}
		return q + 3 + next
	}
	return q
}

// parse reads "10/Oct/2000:13:55:36 -0700", where the seconds may have decimals; what is finer than a microsecond is cut off.
func (s *stampReader) parse(b []byte) (int64, bool) {
	if len(b) < 26 || b[11] != ':' || b[14] != ':' || b[17] != ':' {
		return 0, false
	}
	midnight, ok1 := s.date(b[:11])
	hour, ok2 := digits(b[12:14], 23)
	minute, ok3 := digits(b[15:17], 59)
	second, ok4 := digits(b[18:20], 59)
	micros, zone, ok5 := decimals(b[20:])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || len(zone) != 6 || zone[0] != ' ' {
		return 0, false
	}
	zoneHour, ok6 := digits(zone[2:4], 23)
	zoneMinute, ok7 := digits(zone[4:6], 59)
	offset := 3600*zoneHour + 60*zoneMinute
	switch zone[1] {
	case '+':
	case '-':
		offset = -offset
	default:
		return 0, false
	}
	at := (midnight+3600*hour+60*minute+second-offset)*1_000_000 + micros
	return at, ok6 && ok7 && at >= 0 && at <= maxTime
}

func (s *stampReader) date(b []byte) (midnight int64, ok bool) {
	if string(b) == string(s.day[:]) {
		return s.midnight, true
	}
	t, err := time.Parse("02/Jan/2006", string(b))
	if err != nil {
		return 0, false
	}
	copy(s.day[:], b)
	s.midnight = t.Unix()
	return s.midnight, true
}

func digits(b []byte, most int64) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, n <= most
}

func decimals(b []byte) (micros int64, rest []byte, ok bool) {
	if b[0] != '.' {
		return 0, b, true
	}
	unit := int64(100_000)
	i := 1
	for ; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
		micros += unit * int64(b[i]-'0')
		unit /= 10
	}
	return micros, b[i:], i > 1
}
