package trace

import (
	"bytes"
	"encoding/hex"
)

// logTail is what follows the time in an access log's line. What a line does not have is nil.
type logTail struct {
	method, path, status, referer, agent []byte
}

func splitTail(b []byte) (t logTail) {
	request, b, ok := quoted(b)
	if !ok {
		return t
	}
	t.method, t.path = splitRequest(request)
	var status []byte
	status, b, _ = bytes.Cut(bytes.TrimLeft(b, " "), []byte{' '})
	if _, ok := digits(status, 999); !ok {
		return t
	}
	t.status = status
	_, b, _ = bytes.Cut(bytes.TrimLeft(b, " "), []byte{' '})
	referer, b, ok := quoted(b)
	if !ok {
		return t
	}
	t.referer = unescape(referer)
	if agent, _, ok := quoted(b); ok {
		t.agent = unescape(agent)
	}
	return t
}

// quoted returns the quoted string that b begins with, still escaped. A quote ends it only before a space or at the
// end, because some servers write quotes unescaped.
func quoted(b []byte) (s, rest []byte, ok bool) {
	b = bytes.TrimLeft(b, " ")
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(b); i++ {
		switch {
		case b[i] == '\\':
			i++
		case b[i] == '"' && (i+1 == len(b) || b[i+1] == ' '):
			return b[1:i], b[i+1:], true
		}
	}
	return nil, nil, false
}

// splitRequest reads "GET /path?query HTTP/1.1". What is no such thing, a TLS handshake say, has neither method nor
// path. A path may hold spaces, and HTTP/0.9 has no version.
func splitRequest(b []byte) (method, path []byte) {
	method, target, ok := bytes.Cut(b, []byte{' '})
	if !ok || !isMethod(method) {
		return nil, nil
	}
	target = bytes.TrimSpace(target)
	if bytes.HasPrefix(target, []byte("HTTP/")) {
		return nil, nil
	}
	if i := bytes.LastIndex(target, []byte(" HTTP/")); i >= 0 {
		target = bytes.TrimSpace(target[:i])
	}
	if len(target) == 0 {
		return nil, nil
	}
	return method, pathOf(unescape(target))
}

// isMethod allows what servers log as a method: letters, and the dash and underscore of extensions.
func isMethod(b []byte) bool {
	for _, c := range b {
		letter := 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if !letter && c != '-' && c != '_' {
			return false
		}
	}
	return len(b) > 0
}

// unescape undoes what servers do to unprintable bytes, quotes and backslashes. Unknown escapes stay.
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case '"', '\\':
			out = append(out, b[i])
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'b':
			out = append(out, '\b')
		case 'v':
			out = append(out, '\v')
		case 'f':
			out = append(out, '\f')
		case 'x':
			var c [1]byte
			if i+2 < len(b) {
				if _, err := hex.Decode(c[:], b[i+1:i+3]); err == nil {
					out = append(out, c[0])
					i += 2
					continue
				}
			}
			out = append(out, '\\', 'x')
		default:
			out = append(out, '\\', b[i])
		}
	}
	return out
}
