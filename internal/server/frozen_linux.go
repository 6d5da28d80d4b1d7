package server

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// awaitFrozen returns when every thread of the child has stopped, or when the child has ended: after
// SIGSTOP is sent, other threads may run on for a moment. It only looks; the child is left to run to wait for.
func (p *process) awaitFrozen() error {
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil, errors.Is(err, unix.ECHILD):
			return nil
		default:
			return fmt.Errorf("server: %s: waiting until it is frozen: %w", p.name, err)
		}
	}
}
