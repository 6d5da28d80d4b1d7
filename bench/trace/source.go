package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	bufferSize = 64 << 10
	maxLine    = 16 << 20 // a file without line ends must not fill the memory
)

// errLong marks a line above maxLine; all of it has been consumed.
var errLong = errors.New("line too long")

// foreign names what the first bytes show to be something that we cannot read. Its tests are narrow: any token may be
// the first of an access log, and "BZhost" is one.
func foreign(head []byte) string {
	switch text := string(head); {
	case strings.HasPrefix(text, "\x28\xb5\x2f\xfd"):
		return "is compressed with zstd; valid is plain text or gzip"
	case strings.HasPrefix(text, "\xfd7zXZ\x00"):
		return "is compressed with xz; valid is plain text or gzip"
	case strings.HasPrefix(text, "BZh") && strings.HasSuffix(text, "1AY&SY"):
		return "is compressed with bzip2; valid is plain text or gzip"
	case strings.HasPrefix(text, "PK\x03\x04"):
		return "is a zip archive; valid is plain text or gzip"
	case strings.HasPrefix(text, "\xff\xfe") && strings.Contains(text, "\x00"),
		strings.HasPrefix(text, "\xfe\xff") && strings.Contains(text, "\x00"):
		return "is UTF-16; valid is UTF-8"
	}
	return ""
}

// unpack looks at the first bytes and unzips if they are those of gzip. A byte order mark is left out.
func unpack(r io.Reader) (src *bufio.Reader, zipped bool, err error) {
	src = bufio.NewReaderSize(r, bufferSize)
	if head, _ := src.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, false, fmt.Errorf("is no whole gzip file: %w", err)
		}
		src, zipped = bufio.NewReaderSize(z, bufferSize), true
	}
	head, _ := src.Peek(10)
	if what := foreign(head); what != "" {
		return nil, false, errors.New(what)
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		_, err = src.Discard(3)
	}
	return src, zipped, err
}

// lines cuts a stream into lines.
type lines struct {
	src  *bufio.Reader
	long []byte // a line that does not fit in the buffer of src
}

func newLines(src *bufio.Reader) *lines { return &lines{src: src} }

// next returns a line without its end, valid until the next call. After the last line it returns io.EOF. When the
// source fails it returns that error and what it had of a line.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	size := 0
	for {
		part, err := l.src.ReadSlice('\n')
		size += len(part)
		if err == bufio.ErrBufferFull {
			if size <= maxLine {
				l.long = append(l.long, part...)
			}
			continue
		}
		if err == io.EOF && size > 0 {
			err = nil // the last line has no end; the next call meets the end of the file again
		}
		line := part
		if size > len(part) && size <= maxLine {
			l.long = append(l.long, part...)
			line = l.long
		}
		if err == nil && size > maxLine {
			err = errLong
		}
		return trimEnd(line), err
	}
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}
