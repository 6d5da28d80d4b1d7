package memcachetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A dialogue is what one client sends, step by step: it waits for the whole answer to a step before it sends the next. "{cas1}" in
// a step stands for the first cas unique that this client has seen, and so on.
type dialogue []string

// speak runs a dialogue on a session in this process and returns the answer to each step, and whether the session hung up.
// A step that was never read has no answer.
func speak(e *engine, d dialogue) (answers []string, hungUp bool) {
	conn := &script{steps: d}
	err := newSession(e, conn).run()
	return conn.answers, !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// script is a connection whose other end follows a dialogue. A session flushes before it reads, so what it writes between two
// steps is its answer to the first.
type script struct {
	steps   dialogue
	unread  []byte
	answers []string
}

func (s *script) Read(p []byte) (int, error) {
	for len(s.unread) == 0 {
		if len(s.answers) == len(s.steps) {
			return 0, io.EOF
		}
		step := s.steps[len(s.answers)]
		s.unread = []byte(fillIn(step, s.answers))
		s.answers = append(s.answers, "")
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

func (s *script) Write(p []byte) (int, error) {
	s.answers[len(s.answers)-1] += string(p)
	return len(p), nil
}

// requireSame runs a dialogue on the real server at addr and requires of it what this server has answered.
func requireSame(t require.TestingT, addr string, d dialogue, answers []string, hungUp bool) {
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()

	var want, got string
	for i, answer := range answers {
		_, err := conn.Write([]byte(fillIn(d[i], []string{got})))
		require.NoError(t, err, "step %d %.300q: memcached hung up before it", i, d[i])
		want += answer
		wanted, _ := normalise(want)
		buf := make([]byte, 64<<10)
		for {
			if normal, _ := normalise(got); normal == wanted {
				break
			}
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(2*time.Second)))
			n, err := conn.Read(buf)
			got += string(buf[:n])
			if err != nil {
				normal, _ := normalise(got)
				require.Equal(t, wanted, normal, "step %d %.300q: all answers so far, memcached's second (%v)", i, d[i], err)
			}
		}
	}
	if !hungUp {
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	}
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	rest, err := io.ReadAll(conn)
	if hungUp && err != nil {
		require.ErrorContains(t, err, "connection reset", "memcached did not hang up")
	} else {
		require.NoError(t, err)
	}
	require.Empty(t, string(rest), "memcached said more")
}

// fillIn puts uniques from the answers so far in their places.
func fillIn(step string, answers []string) string {
	if !strings.Contains(step, "{cas") {
		return step
	}
	_, uniques := normalise(strings.Join(answers, ""))
	for i := 1; i <= 9; i++ {
		unique := "999999999"
		if i <= len(uniques) {
			unique = uniques[i-1]
		}
		step = strings.ReplaceAll(step, fmt.Sprintf("{cas%d}", i), unique)
	}
	return step
}

// normalise replaces what differs between two servers by nature: cas uniques by the order in which they appeared, the version, and
// the statistics of the process and of memcached's inner parts, which it leaves out. It also returns the uniques.
func normalise(answers string) (normal string, uniques []string) {
	var out strings.Builder
	rest := []byte(answers)
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\r\n"))
		words := strings.Split(string(line), " ")
		switch {
		case !whole:
			out.Write(rest)
			return out.String(), uniques
		case words[0] == "VALUE" && len(words) >= 4:
			length, _ := strconv.Atoi(words[3])
			if len(words) == 5 {
				if !slices.Contains(uniques, words[4]) {
					uniques = append(uniques, words[4])
				}
				words[4] = fmt.Sprintf("<unique %d>", slices.Index(uniques, words[4])+1)
			}
			data := min(length+2, len(after))
			fmt.Fprintf(&out, "%s\r\n%s", strings.Join(words, " "), after[:data])
			after = after[data:]
		case words[0] == "STAT":
			if slices.Contains(comparedStats(), words[1]) {
				fmt.Fprintf(&out, "%s\r\n", line)
			}
		case words[0] == "VERSION":
			out.WriteString("VERSION\r\n")
		default:
			fmt.Fprintf(&out, "%s\r\n", line)
		}
		rest = after
	}
	return out.String(), uniques
}

func comparedStats() []string {
	return strings.Fields(`cmd_get cmd_set cmd_flush cmd_touch get_hits get_misses get_expired get_flushed
		delete_misses delete_hits incr_misses incr_hits decr_misses decr_hits cas_misses cas_hits cas_badval
		touch_hits touch_misses store_too_large limit_maxbytes bytes curr_items total_items evictions
		maxbytes cas_enabled item_size_max flush_enabled`)
}

// newTestEngine is an engine with the default options and the real clock, unless changed.
func newTestEngine(t require.TestingT, opts *Options) *engine {
	o, err := opts.withDefaults()
	require.NoError(t, err)
	return newEngine(o)
}

func TestNormaliseSeesDifferences(t *testing.T) {
	normal, uniques := normalise("VALUE a 0 2 17\r\n\r\n\r\nVALUE b 0 1 4\r\nx\r\nVALUE a 0 0 17\r\n\r\nEND\r\nSTAT pid 7\r\nSTAT cmd_get 2\r\nVERSION 1\r\n")
	require.Equal(t, "VALUE a 0 2 <unique 1>\r\n\r\n\r\nVALUE b 0 1 <unique 2>\r\nx\r\nVALUE a 0 0 <unique 1>\r\n\r\nEND\r\nSTAT cmd_get 2\r\nVERSION\r\n", normal)
	require.Equal(t, []string{"17", "4"}, uniques)
}
