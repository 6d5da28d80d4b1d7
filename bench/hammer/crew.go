package hammer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// endGrace is how long a worker process may take to end after its input has.
const endGrace = 2 * time.Second

// crew is the worker processes, set up for one store.
type crew struct {
	members []*member
	unwatch func() bool
}

// member is one worker process.
type member struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies *json.Decoder
	errs    firstLine
}

// muster starts n processes that command makes and sets them up. They are killed when
// ctx ends; stop ends them in order.
func muster(ctx context.Context, command func() *exec.Cmd, n int, s setup) (*crew, error) {
	c := &crew{unwatch: func() bool { return true }}
	for range n {
		m, err := start(command())
		if err != nil {
			c.stop()
			return nil, err
		}
		c.members = append(c.members, m)
	}
	c.unwatch = context.AfterFunc(ctx, func() {
		for _, m := range c.members {
			_ = m.cmd.Process.Kill() // one that has ended already is as well
		}
	})
	if _, err := c.all(ctx, func(int) order { return order{Setup: &s} }); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func start(cmd *exec.Cmd) (*member, error) {
	m := &member{cmd: cmd}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("hammer: worker process: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("hammer: worker process: %w", err)
	}
	cmd.Stderr, cmd.WaitDelay = &m.errs, endGrace
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("hammer: worker process: %w", err)
	}
	m.in, m.replies = in, json.NewDecoder(out)
	return m, nil
}

// lostError says that a worker process is gone, and with it the crew's use. Any other
// error is one that a process answered with; it obeys the next order.
type lostError struct{ err error }

func (l *lostError) Error() string { return l.err.Error() }
func (l *lostError) Unwrap() error { return l.err }

// all gives every process its order, waits for all replies, and returns the tallies' sum.
func (c *crew) all(ctx context.Context, of func(i int) order) (tally, error) {
	var (
		g   errgroup.Group
		mu  sync.Mutex
		sum tally
	)
	for i, m := range c.members {
		if err := send(m.in, of(i)); err != nil {
			return tally{}, m.lost(ctx, err)
		}
	}
	for _, m := range c.members {
		g.Go(func() error {
			var r reply
			if err := m.replies.Decode(&r); err != nil {
				return m.lost(ctx, err)
			}
			if r.Error != "" {
				return errors.New(r.Error)
			}
			if r.Tally != nil {
				mu.Lock()
				defer mu.Unlock()
				sum.add(*r.Tally)
			}
			return nil
		})
	}
	err := g.Wait()
	return sum, err
}

// lost says why a process no longer answers.
func (m *member) lost(ctx context.Context, err error) error {
	switch line := m.errs.String(); {
	case ctx.Err() != nil:
		err = ctx.Err()
	case line != "":
		err = fmt.Errorf("hammer: worker process %d ended: %s", m.cmd.Process.Pid, line)
	default:
		err = fmt.Errorf("hammer: worker process %d does not answer: %w", m.cmd.Process.Pid, err)
	}
	return &lostError{err}
}

// stop ends the processes and waits until they are gone.
func (c *crew) stop() {
	for _, m := range c.members {
		_ = m.in.Close()
	}
	for _, m := range c.members {
		t := time.AfterFunc(endGrace, func() { _ = m.cmd.Process.Kill() })
		_ = m.cmd.Wait() // how it ended no longer matters
		t.Stop()
	}
	c.unwatch()
}

// firstLine keeps the first line written to it.
type firstLine struct {
	mu   sync.Mutex
	text strings.Builder
}

func (f *firstLine) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.text.Len() < 4096 {
		f.text.Write(p)
	}
	return len(p), nil
}

func (f *firstLine) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(f.text.String()), "\n")
	return line
}
