package memcachetest

import (
	"bytes"
	"errors"
	"io"
)

const (
	inputSize = 16 << 10

	// longestLine is how much may arrive without a line end before memcached hangs up, unless it is a get of many keys. That has
	// no bound in memcached; here it has a generous one.
	longestLine     = 2048
	longestMultiget = 16 << 20
)

var (
	errLineTooLong = errors.New("memcachetest: command line is too long")
	errBinary      = errors.New("memcachetest: the binary protocol is not spoken")
)

// binaryRequest is the first byte of every request of the binary protocol.
const binaryRequest = 0x80

// input reads command lines and data blocks. Before it waits for a command it calls flush: a client that waits for an answer gets
// it, and answers to commands that came together leave together. As in memcached, waiting for data holds earlier answers back.
type input struct {
	src      io.Reader
	flush    func() error
	buf      []byte
	from, to int // what has been read and not yet used
	begun    bool
}

// line returns the next command line without its end, cut at the first zero byte. It is valid until the next call.
func (in *input) line() ([]byte, error) {
	searched := 0
	for {
		pending := in.buf[in.from:in.to]
		if i := bytes.IndexByte(pending[searched:], '\n'); i >= 0 {
			end := searched + i
			in.from += end + 1
			return trimLine(pending[:end]), nil
		}
		searched = len(pending)
		if searched > longestMultiget || searched > longestLine && !isMultiget(pending) {
			return nil, errLineTooLong
		}
		if err := in.fill(); err != nil {
			return nil, err
		}
	}
}

func trimLine(line []byte) []byte {
	if len(line) > 1 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	line, _, _ = bytes.Cut(line, []byte{0})
	return line
}

func isMultiget(line []byte) bool {
	command := bytes.TrimLeft(line, " ")
	return len(line)-len(command) <= 100 &&
		(bytes.HasPrefix(command, []byte("get ")) || bytes.HasPrefix(command, []byte("gets ")))
}

// block returns the next n bytes, in memory of their own.
func (in *input) block(n int) ([]byte, error) {
	data := make([]byte, n)
	have := copy(data, in.buf[in.from:in.to])
	in.from += have
	_, err := io.ReadFull(in.src, data[have:])
	return data, err
}

// skip reads n bytes and forgets them.
func (in *input) skip(n int) error {
	have := min(n, in.to-in.from)
	in.from += have
	_, err := io.CopyN(io.Discard, in.src, int64(n-have))
	return err
}

// fill waits for more bytes.
func (in *input) fill() error {
	if err := in.flush(); err != nil {
		return err
	}
	in.to = copy(in.buf, in.buf[in.from:in.to])
	in.from = 0
	if in.to == len(in.buf) {
		in.buf = append(in.buf, make([]byte, max(inputSize, len(in.buf)))...)
	}
	n, err := io.ReadAtLeast(in.src, in.buf[in.to:], 1)
	in.to += n
	if n > 0 && !in.begun {
		in.begun = true
		if in.buf[0] == binaryRequest {
			return errBinary
		}
	}
	return err
}
