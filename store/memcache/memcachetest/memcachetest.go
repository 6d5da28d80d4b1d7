// Package memcachetest is a memcached that lives inside the calling process: a server on a free loopback port that speaks
// memcached's text protocol, for tests and demonstrations.
//
// It answers byte for byte as memcached 1.6 does, malformed commands included, and it keeps time as memcached does, in whole
// seconds of its own tick, so a relative expiry of E seconds lives between E-1 and E seconds. Its clock can be moved:
//
//	clock := memcachetest.NewClock(time.Now())
//	server, err := memcachetest.Start(&memcachetest.Options{Now: clock.Now})
//	...
//	clock.Advance(time.Minute)
//
// It is a stand-in for what memcached does, not for how fast it does it or how many bytes an item costs there: it has no slabs, and
// its least recently used item is exactly that. The binary protocol, the meta commands and the commands that administer a server are not spoken.
package memcachetest

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Version is what the version command answers. It names the stand-in, so that no result can be mistaken for memcached's own.
const Version = "1.6.18-memcachetest"

// Server is a running server. All methods may be called from several goroutines at once.
type Server struct {
	listener net.Listener
	engine   *engine
	work     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// Start listens on a free port of 127.0.0.1 and serves until Close. Nil options mean the defaults. It fails if an option is out of
// range, naming the field, or if no port can be had.
func Start(opts *Options) (*Server, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("memcachetest: listen: %w", err)
	}
	s := &Server{listener: listener, engine: newEngine(o), conns: make(map[net.Conn]struct{})}
	s.work.Add(1)
	go s.accept()
	return s, nil
}

// Addr is the address to connect to, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Stats is a snapshot of the server's counters.
func (s *Server) Stats() Stats { return s.engine.snapshot() }

// Close stops listening, closes every connection and returns when all goroutines of the server have ended. Later calls return nil.
func (s *Server) Close() error {
	s.mu.Lock()
	var err error
	if !s.closed {
		s.closed = true
		err = s.listener.Close()
		for conn := range s.conns {
			_ = conn.Close()
		}
	}
	s.mu.Unlock()
	s.work.Wait()
	if err != nil {
		return fmt.Errorf("memcachetest: close: %w", err)
	}
	return nil
}

func (s *Server) accept() {
	defer s.work.Done()
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors, most likely: one freed a moment later will do.
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if !s.track(conn) {
			_ = conn.Close()
			return
		}
		go s.serve(conn)
	}
}

// track adds a connection to those that Close ends, or reports that Close came first.
func (s *Server) track(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[conn] = struct{}{}
	s.work.Add(1)
	s.engine.connected(+1)
	return true
}

func (s *Server) serve(conn net.Conn) {
	defer s.work.Done()
	newSession(s.engine, conn).run()
	_ = conn.Close()
	s.engine.connected(-1)
	s.mu.Lock()
	delete(s.conns, conn)
	s.mu.Unlock()
}
