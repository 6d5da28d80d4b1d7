//go:build unix

package server

import "syscall"

func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return p.awaitFrozen()
}

func (p *process) resume() error { return p.signal(syscall.SIGCONT) }
