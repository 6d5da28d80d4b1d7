//go:build !linux && !freebsd

package server

import "syscall"

// dieWithParent leaves the child in the parent's process group, so that at least an interrupt typed
// at a terminal ends both.
func dieWithParent() *syscall.SysProcAttr { return nil }
