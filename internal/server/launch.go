package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const (
	attempts     = 8                     // ports tried before giving up
	readyWithin  = 15 * time.Second      // from start to the first answer
	probeTimeout = 2 * time.Second       // one question and its answer
	probePause   = 10 * time.Millisecond // between two questions
)

// errPortTaken means that another process has the port.
var errPortTaken = errors.New("the port is taken")

// A program is what differs between one kind of server and another.
type program struct {
	name    string
	install string // how to get it
	config  string // a file to make, empty, in its directory; or none
	args    func(port int, dir string) []string
	probe   func(rw *bufio.ReadWriter) (identity, error)
	grace   time.Duration       // for its orderly end, after SIGTERM
	port    func() (int, error) // proposes a port
	fixed   bool                // port always proposes the same one
}

// An identity is what a server says of itself.
type identity struct {
	pid     int
	version string
}

// set takes value if name is the one that holds the process id or the version.
func (id *identity) set(name, value, pidName, versionName string) {
	switch name {
	case pidName:
		id.pid, _ = strconv.Atoi(value) // check refuses the 0 of a bad number
	case versionName:
		id.version = value
	}
}

func (id *identity) check(question string) error {
	if id.pid <= 0 || id.version == "" {
		return fmt.Errorf("the reply to %s lacks a process id or a version", question)
	}
	return nil
}

// launch starts the program and returns once it answers as the process that was started.
func (pr *program) launch(ctx context.Context) (*Server, error) {
	path, err := exec.LookPath(pr.name)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s is not on PATH (%s)", ErrNotInstalled, pr.name, pr.install)
	}
	if err != nil {
		return nil, fmt.Errorf("server: %s: %w", pr.name, err)
	}
	for range attempts {
		s, startErr := pr.try(ctx, path)
		if startErr == nil {
			s.release = context.AfterFunc(ctx, s.end)
			return s, nil
		}
		err = startErr
		if pr.fixed || !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, err
}

// try makes one attempt, on one port, and leaves nothing behind when it fails.
func (pr *program) try(ctx context.Context, path string) (*Server, error) {
	port, err := pr.port()
	if err != nil {
		return nil, fmt.Errorf("server: no free loopback port for %s: %w", pr.name, err)
	}
	dir, err := os.MkdirTemp("", "weir-"+pr.name+"-")
	if err != nil {
		return nil, fmt.Errorf("server: no directory for %s: %w", pr.name, err)
	}
	if pr.config != "" {
		if err := os.WriteFile(filepath.Join(dir, pr.config), nil, 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("server: no configuration for %s: %w", pr.name, err), os.RemoveAll(dir))
		}
	}
	p := &process{name: pr.name, grace: pr.grace, dir: dir}
	if err := p.start(path, pr.args(port, dir)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	id, err := pr.await(ctx, p, addr)
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return &Server{Addr: addr, Port: port, PID: id.pid, Version: id.version, proc: p}, nil
}

// await asks at addr until p itself answers.
func (pr *program) await(ctx context.Context, p *process, addr string) (identity, error) {
	deadline := time.NewTimer(readyWithin)
	defer deadline.Stop()
	for {
		id, err := pr.ask(ctx, addr)
		if err == nil && id.pid == p.cmd.Process.Pid {
			return id, nil
		}
		if err == nil {
			return id, fmt.Errorf("server: %s at %s is answered by process %d, not by the one started, %d: %w",
				pr.name, addr, id.pid, p.cmd.Process.Pid, errPortTaken)
		}
		pause := time.NewTimer(probePause)
		select {
		case <-pause.C:
		case <-p.done:
			return id, pr.diedEarly(p, addr)
		case <-ctx.Done():
			return id, fmt.Errorf("server: starting %s: %w", pr.name, context.Cause(ctx))
		case <-deadline.C:
			return id, fmt.Errorf("server: %s at %s gave no answer within %s: %w; its last output: %s",
				pr.name, addr, readyWithin, err, p.out.lastLine())
		}
		pause.Stop()
	}
}

func (pr *program) diedEarly(p *process, addr string) error {
	if p.out.portTaken() {
		return fmt.Errorf("server: %s at %s: %w: %s", pr.name, addr, errPortTaken, p.out.lastLine())
	}
	end := "exit status 0"
	if p.err != nil {
		end = p.err.Error()
	}
	return fmt.Errorf("server: %s ended before it answered (%s): %s", pr.name, end, p.out.lastLine())
}

// ask opens a connection and probes it once.
func (pr *program) ask(ctx context.Context, addr string) (identity, error) {
	d := net.Dialer{Timeout: probeTimeout}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return identity{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(probeTimeout)); err != nil {
		return identity{}, err
	}
	return pr.probe(bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)))
}

// choosePort returns how a port is proposed: the given one, or for 0 a free one each time.
func choosePort(port int) (propose func() (int, error), err error) {
	if port < 0 || port > 65535 {
		return nil, fmt.Errorf("server: Port %d: must be 1 to 65535, or 0 for a free one", port)
	}
	if port > 0 {
		return func() (int, error) { return port, nil }, nil
	}
	return freePort, nil
}

// freePort returns a loopback port that was free a moment ago. Somebody may take it before the server does,
// which await finds out.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
