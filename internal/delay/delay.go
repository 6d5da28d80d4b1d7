// Package delay puts a fixed latency between a client and a TCP server on this machine.
//
// Each direction's bytes arrive in order, at least the latency after they were sent, and any number of them
// may be under way at once: latency is added, throughput is not taken. The end of a direction is delayed like
// its bytes. Opening a connection is not delayed.
package delay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// A Proxy forwards connections until it is closed. Its methods are safe for concurrent use.
type Proxy struct {
	target   string
	latency  time.Duration
	listener net.Listener
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil once closed
}

// Start listens on a free loopback port and forwards every connection to target, a host:port,
// delaying each direction by latency, which is zero or more. The target is dialed for each connection;
// if it refuses, the client's connection is closed.
func Start(target string, latency time.Duration) (*Proxy, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, fmt.Errorf("delay: target %q: must be host:port: %w", target, err)
	}
	if latency < 0 {
		return nil, fmt.Errorf("delay: latency %s: must be zero or more", latency)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("delay: %w", err)
	}
	p := &Proxy{target: target, latency: latency, listener: l, conns: make(map[net.Conn]struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.accept)
	return p, nil
}

// Addr returns where the proxy listens, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close stops listening, breaks all connections, drops what is under way, and returns when nothing of the
// proxy runs any more. Closing again does nothing.
func (p *Proxy) Close() error {
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	if conns == nil {
		p.wg.Wait()
		return nil
	}
	p.cancel()
	err := p.listener.Close()
	for c := range conns {
		c.Close() // its error tells nothing: the connection is broken on purpose
	}
	p.wg.Wait()
	if err != nil {
		return fmt.Errorf("delay: %w", err)
	}
	return nil
}

// acceptPause keeps a shortage of file descriptors from becoming a busy loop.
const acceptPause = 10 * time.Millisecond

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		switch {
		case err == nil:
			p.wg.Go(func() { p.serve(c) })
		case errors.Is(err, net.ErrClosed):
			return
		default:
			sleep(p.ctx, acceptPause)
		}
	}
}

// serve forwards one connection, and returns when both directions have ended.
func (p *Proxy) serve(client net.Conn) {
	if !p.hold(client) {
		return
	}
	defer p.drop(client)
	var d net.Dialer
	target, err := d.DialContext(p.ctx, "tcp", p.target)
	if err != nil || !p.hold(target) {
		return
	}
	defer p.drop(target)

	// A connection that breaks on one side breaks on the other, in both directions.
	abort := func() {
		reset(client)
		reset(target)
	}
	var wg sync.WaitGroup
	for _, l := range []*line{newLine(client, target, p.latency), newLine(target, client, p.latency)} {
		wg.Go(l.receive)
		wg.Go(func() {
			if !l.deliver(p.ctx) {
				abort()
			}
		})
	}
	wg.Wait()
}

// hold has Close close c too; after Close it closes c itself and reports false.
func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	c.Close()
}

// reset closes c so that the other end sees a broken connection, not an orderly end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	c.Close()
}

// sleep waits for d and reports true, or false as soon as ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
