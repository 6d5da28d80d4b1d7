package delay

import (
	"sync"
	"time"
)

// maxQueued bounds the bytes under way in one direction. It leaves 640 MB/s at a latency of 100 ms,
// and keeps a receiver that does not read from filling the memory.
const maxQueued = 64 << 20

// A piece is what one read brought: data, or the end of the stream.
type piece struct {
	due  time.Time
	data []byte
	end  error // io.EOF for an orderly end
}

// A queue holds the pieces under way, for one that puts and one that takes.
type queue struct {
	mu        sync.Mutex
	changed   sync.Cond
	pieces    []piece
	bytes     int
	abandoned bool
}

func newQueue() *queue {
	q := new(queue)
	q.changed.L = &q.mu
	return q
}

// put waits for room, adds p, and reports whether anyone will take it.
func (q *queue) put(p piece) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes >= maxQueued && !q.abandoned {
		q.changed.Wait()
	}
	q.pieces = append(q.pieces, p)
	q.bytes += len(p.data)
	q.changed.Signal()
	return !q.abandoned
}

// take waits for the oldest piece and removes it. Every stream has an end piece, so it never waits in vain.
func (q *queue) take() piece {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pieces) == 0 {
		q.changed.Wait()
	}
	p := q.pieces[0]
	q.pieces[0] = piece{}
	q.pieces = q.pieces[1:]
	q.bytes -= len(p.data)
	q.changed.Signal()
	return p
}

// abandon says that nobody takes any more, which frees one that waits to put.
func (q *queue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.abandoned = true
	q.pieces = nil
	q.changed.Signal()
}
