//go:build linux || freebsd

package server

import "syscall"

// dieWithParent has the kernel kill the child when its parent dies. The child also gets a process group
// of its own, so that an interrupt typed at a terminal reaches the parent alone, which then ends in its own order.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
