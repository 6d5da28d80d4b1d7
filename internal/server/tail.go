package server

import (
	"bytes"
	"strings"
	"sync"
)

// maxTail is how many bytes of a child's output are kept.
const maxTail = 4096

// A tail is a writer that keeps the end of what was written.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - maxTail; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

// lastLine returns the last line that is not blank, or "no output".
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.buf)
	if len(text) == 0 {
		return "no output"
	}
	return strings.TrimSpace(string(text[bytes.LastIndexByte(text, '\n')+1:]))
}

// portTaken reports whether the child said that its port belongs to somebody else.
func (t *tail) portTaken() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(bytes.ToLower(t.buf), []byte("already in use"))
}
