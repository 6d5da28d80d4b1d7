package memcache

import (
	"context"
	"net"
	"sync"

	gomemcache "github.com/bradfitz/gomemcache/memcache"

	"github.com/weirlimits/weir/store"
)

// session is a client for one call at a time. The client itself knows no contexts, but
// the session knows which connections the call can be using: it closes them when the
// call's context ends.
type session struct {
	client *gomemcache.Client
	dial   dialer
	ctx    context.Context // of the call under way

	mu      sync.Mutex
	conns   map[*sessionConn]struct{}
	stopped bool
}

// sessionConn is a connection that its session knows while it is open.
type sessionConn struct {
	net.Conn
	session *session
}

func (c *sessionConn) Close() error {
	c.session.mu.Lock()
	delete(c.session.conns, c)
	c.session.mu.Unlock()
	return c.Conn.Close()
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (s *session) connect(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	conn, err := s.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	c := &sessionConn{conn, s}
	s.conns[c] = struct{}{}
	return c, nil
}

// stop closes the session's connections, in use or not.
func (s *session) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for c := range s.conns {
		_ = c.Conn.Close()
	}
	clear(s.conns)
}

// pool makes sessions and keeps the idle ones, the last used on top.
type pool struct {
	create  func() *session
	maxIdle int

	mu     sync.Mutex
	idle   []*session
	closed bool
}

func newPool(selector gomemcache.ServerSelector, servers int, o Options) *pool {
	create := func() *session {
		s := &session{
			client: gomemcache.NewFromSelector(selector),
			dial:   o.DialContext,
			conns:  make(map[*sessionConn]struct{}),
		}
		s.client.Timeout = o.Timeout
		s.client.MaxIdleConns = servers // one that is listed twice is asked twice at once
		s.client.DialContext = s.connect
		return s
	}
	return &pool{create: create, maxIdle: o.MaxIdleConns}
}

// run calls f with a client of its own and, when ctx ends first, with connections that
// break. After an error the session is dropped: the client's connection may be out of step.
func (p *pool) run(ctx context.Context, f func(*gomemcache.Client) error) error {
	s, err := p.take()
	if err != nil {
		return err
	}
	s.ctx = ctx
	undisturbed := func() bool { return true }
	if ctx.Done() != nil {
		undisturbed = context.AfterFunc(ctx, s.stop)
	}
	err = f(s.client)
	switch {
	case !undisturbed():
		s.stop()
		if err != nil {
			err = ctx.Err() // what broke is of our own making
		}
	case err != nil:
		s.stop()
		if lostConnection(err) {
			// A server that restarted has cut all its idle connections, and each would
			// fail one call.
			p.drain()
		}
	default:
		s.ctx = nil
		p.put(s)
	}
	return err
}

func (p *pool) take() (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, store.ErrClosed
	}
	last := len(p.idle) - 1
	if last < 0 {
		return p.create(), nil
	}
	s := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	return s, nil
}

func (p *pool) put(s *session) {
	p.mu.Lock()
	keep := !p.closed && len(p.idle) < p.maxIdle
	if keep {
		p.idle = append(p.idle, s)
	}
	p.mu.Unlock()
	if !keep {
		s.stop()
	}
}

// drain closes the idle sessions.
func (p *pool) drain() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, s := range idle {
		s.stop()
	}
}

// close drains the pool; sessions in use are closed when their calls end.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.drain()
}
