package trace

import (
	"bytes"
	"fmt"
	"strings"
)

// matcher is a parsed Options.Match.
type matcher struct {
	method string // empty: any
	path   string
	prefix bool
}

// newMatcher returns nil if there is nothing to match.
func newMatcher(pattern string) (*matcher, error) {
	if pattern == "" {
		return nil, nil
	}
	fields := strings.Fields(pattern)
	m := &matcher{}
	switch len(fields) {
	case 1:
		m.path = fields[0]
	case 2:
		m.method, m.path = fields[0], fields[1]
	}
	m.path, m.prefix = strings.CutSuffix(m.path, "*")
	if rooted := strings.HasPrefix(m.path, "/"); !rooted && !(m.path == "" && m.prefix) || strings.Contains(m.path, "?") {
		return nil, fmt.Errorf(`trace: Options.Match %q is not a path without a query, or a method and a path; valid is "/login", "POST /login", "POST /api*"`, pattern)
	}
	return m, nil
}

// match reports whether a request is one of those wanted. An unreadable request has no path and never is.
func (m *matcher) match(method, path []byte) bool {
	if m.method != "" && !strings.EqualFold(m.method, string(method)) {
		return false
	}
	rest, ok := bytes.CutPrefix(path, []byte(m.path))
	if !ok || len(path) == 0 {
		return false
	}
	return m.prefix || len(rest) == 0 || rest[0] == '/' || strings.HasSuffix(m.path, "/")
}

// pathOf returns the path of a request target: without scheme and host if it has them, without the query.
func pathOf(target []byte) []byte {
	for _, scheme := range []string{"http://", "https://"} {
		if rest, ok := bytes.CutPrefix(target, []byte(scheme)); ok {
			slash := bytes.IndexAny(rest, "/?")
			if slash < 0 || rest[slash] == '?' {
				return []byte("/")
			}
			target = rest[slash:]
			break
		}
	}
	path, _, _ := bytes.Cut(target, []byte{'?'})
	return path
}
