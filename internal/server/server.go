// Package server runs private redis-server and memcached processes on free loopback ports.
//
// A server belongs to the process that started it: it keeps nothing on disk beyond Stop, and on Linux
// and FreeBSD it is killed when that process dies, however it dies. Elsewhere only Stop and the context end it.
package server

import (
	"errors"
	"sync"
)

// ErrNotInstalled is what errors.Is finds when the program to run is not on PATH.
var ErrNotInstalled = errors.New("server: not installed")

// A Server is one running process. Its fields never change, and its methods are safe for concurrent use.
type Server struct {
	Addr    string // "127.0.0.1:port"
	Port    int
	PID     int
	Version string // as the server reports it, such as "7.0.15"

	proc    *process
	release func() bool // stops watching the context
	once    sync.Once
	stopErr error
}

// Stop ends the server, waits until it is gone and removes its files. It asks with SIGTERM first and
// kills after a grace of at most a few seconds. Every call returns what the first one found, and nil if the server was already gone.
func (s *Server) Stop() error {
	s.release()
	s.end()
	return s.stopErr
}

// end stops the process once; every caller waits for that.
func (s *Server) end() {
	s.once.Do(func() { s.stopErr = s.proc.stop() })
}

// Kill ends the server at once, as a crash would, and waits until it is gone. Stop is still needed
// to remove its files.
func (s *Server) Kill() error { return s.proc.kill() }

// Pause freezes the server: its connections stay open and nothing answers. On Linux it returns when the
// server is frozen, elsewhere it may lag by a moment. Stop and Kill end a frozen server too.
// Where the system cannot freeze a process, the error is errors.ErrUnsupported.
func (s *Server) Pause() error { return s.proc.pause() }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.proc.resume() }
