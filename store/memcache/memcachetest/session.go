package memcachetest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
)

const (
	replyError     = "ERROR"
	replyBadFormat = "CLIENT_ERROR bad command line format"
)

// errHangUp ends a session as the client asked for, or as memcached does to one that speaks HTTP.
var errHangUp = errors.New("memcachetest: connection ended by the protocol")

// session is the conversation on one connection.
type session struct {
	engine *engine
	in     input
	out    *bufio.Writer
	args   [][]byte // of the command at hand, the command first; they point into the input's buffer
	quiet  bool     // the command at hand said noreply
}

func newSession(e *engine, conn io.ReadWriter) *session {
	s := &session{engine: e, out: bufio.NewWriterSize(conn, inputSize)}
	s.in = input{src: conn, flush: s.out.Flush}
	return s
}

// run answers commands until the connection ends; the error says how it did. Unless the client said quit, answers that have
// not left by then are lost, as in memcached.
func (s *session) run() error {
	for {
		line, err := s.in.line()
		if err == nil {
			err = s.command(line)
		}
		if err != nil {
			return err
		}
	}
}

// command is how a command is run, and with how many words, its own name included.
type command struct {
	least, most int
	run         func(*session, [][]byte) error
}

func lookupCommand(name []byte) (command, bool) {
	const many = math.MaxInt
	switch string(name) {
	case "get", "bget":
		return command{2, many, (*session).get}, true
	case "gets":
		return command{2, many, (*session).gets}, true
	case "gat":
		return command{2, many, (*session).gat}, true
	case "gats":
		return command{2, many, (*session).gats}, true
	case "set":
		return command{5, 6, (*session).set}, true
	case "add":
		return command{5, 6, (*session).add}, true
	case "replace":
		return command{5, 6, (*session).replace}, true
	case "append":
		return command{5, 6, (*session).append}, true
	case "prepend":
		return command{5, 6, (*session).prepend}, true
	case "cas":
		return command{6, 7, (*session).cas}, true
	case "incr":
		return command{3, 4, (*session).incr}, true
	case "decr":
		return command{3, 4, (*session).decr}, true
	case "touch":
		return command{3, 4, (*session).touch}, true
	case "delete":
		return command{2, 4, (*session).delete}, true
	case "flush_all":
		return command{1, 3, (*session).flushAll}, true
	case "verbosity":
		return command{2, 3, (*session).verbosity}, true
	case "stats":
		return command{1, many, (*session).stats}, true
	case "version":
		return command{1, many, (*session).version}, true
	case "quit":
		return command{1, many, (*session).quit}, true
	}
	return command{}, false
}

func (s *session) command(line []byte) error {
	s.quiet = false
	s.args = s.args[:0]
	// Only the space parts words; other blanks belong to them.
	for word := range bytes.SplitSeq(line, []byte{' '}) {
		if len(word) > 0 {
			s.args = append(s.args, word)
		}
	}
	if len(s.args) == 0 {
		s.reply(replyError)
		return nil
	}
	cmd, ok := lookupCommand(s.args[0])
	switch {
	case !ok && isHTTP(s.args):
		return errHangUp
	case !ok, len(s.args) < cmd.least, len(s.args) > cmd.most:
		s.reply(replyError)
		return nil
	}
	return cmd.run(s, s.args)
}

// isHTTP recognises a request line of HTTP, by which a web page could be made to write to a cache. Memcached looks for it only
// where it knows no command with that first letter.
func isHTTP(args [][]byte) bool {
	name := args[0]
	known := bytes.IndexByte([]byte("gsacidt"), name[0]) >= 0 || name[0] == 'm' && len(name) == 2 || len(name) < 2
	return !known && bytes.HasPrefix(args[len(args)-1], []byte("HTTP/"))
}

// noreply silences the command if its last word says so, its errors included, so it comes before all checks.
func (s *session) noreply(args [][]byte) {
	s.quiet = string(args[len(args)-1]) == "noreply"
}

// reply writes a line. A failed write shows at the next flush.
func (s *session) reply(line string) {
	if s.quiet {
		return
	}
	_, _ = s.out.WriteString(line)
	_, _ = s.out.WriteString("\r\n")
}

func (s *session) writeValue(it item, withUnique bool) {
	head := s.out.AvailableBuffer()
	head = append(append(head, "VALUE "...), it.key...)
	head = strconv.AppendUint(append(head, ' '), uint64(it.flags), 10)
	head = strconv.AppendInt(append(head, ' '), int64(len(it.value)), 10)
	if withUnique {
		head = strconv.AppendUint(append(head, ' '), it.unique, 10)
	}
	_, _ = s.out.Write(append(head, "\r\n"...))
	_, _ = s.out.Write(it.value)
	_, _ = s.out.WriteString("\r\n")
}
