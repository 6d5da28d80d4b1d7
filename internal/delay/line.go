package delay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// readSize is the largest piece that is read, queued and written as one.
const readSize = 64 << 10

// A line carries one direction of a connection.
type line struct {
	from, to net.Conn
	latency  time.Duration
	queue    *queue
}

func newLine(from, to net.Conn, latency time.Duration) *line {
	return &line{from: from, to: to, latency: latency, queue: newQueue()}
}

// receive queues what arrives, until the sender's end or until delivery has failed.
func (l *line) receive() {
	buf := make([]byte, readSize)
	for {
		n, err := l.from.Read(buf)
		due := time.Now().Add(l.latency)
		if n > 0 && !l.queue.put(piece{due: due, data: bytes.Clone(buf[:n])}) {
			return
		}
		if err != nil {
			l.queue.put(piece{due: due, end: err})
			return
		}
	}
}

// deliver writes each piece when it is due and passes on the sender's end. It reports false
// if the connection is broken, by either side or by ctx.
func (l *line) deliver(ctx context.Context) bool {
	defer l.queue.abandon()
	for {
		p := l.queue.take()
		if !sleep(ctx, time.Until(p.due)) {
			return false
		}
		if p.end != nil {
			return errors.Is(p.end, io.EOF) && closeWrite(l.to) == nil
		}
		if _, err := l.to.Write(p.data); err != nil {
			return false
		}
	}
}

// closeWrite ends what is sent to c and leaves what c sends alone.
func closeWrite(c net.Conn) error {
	if t, ok := c.(*net.TCPConn); ok {
		return t.CloseWrite()
	}
	return c.Close()
}
