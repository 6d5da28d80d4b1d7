package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// outputGrace is how long a child's output may stay open after its end, by a descendant that holds it.
const outputGrace = time.Second

// A process is a child with a directory of its own, waited for from its first moment.
type process struct {
	name  string
	grace time.Duration // between SIGTERM and SIGKILL
	dir   string        // removed at the end
	cmd   *exec.Cmd
	out   *tail
	done  chan struct{} // closed when the child has been waited for
	err   error         // the child's end; read after done
}

// start runs the program at path in p's directory. The name, the grace and the directory are set already.
func (p *process) start(path string, args []string) error {
	p.out, p.done = new(tail), make(chan struct{})
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir = p.dir
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.WaitDelay = outputGrace
	p.cmd.SysProcAttr = dieWithParent()

	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return fmt.Errorf("server: %s did not start: %w", p.name, err)
	}
	return nil
}

// run starts the child, reports that on started, and waits for its end.
//
// Linux sends the parent-death signal when the thread that started the child ends, not the process.
// So one thread is kept for the child's whole life: this goroutine is locked to it, and waits.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// signal sends sig to the child; one that has ended already is no error.
func (p *process) signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("server: %s, process %d: %w", p.name, p.cmd.Process.Pid, err)
	}
	return nil
}

func (p *process) kill() error {
	if err := p.signal(os.Kill); err != nil {
		return err
	}
	<-p.done
	return nil
}

// stop ends the child and removes its directory.
func (p *process) stop() error {
	if p.signal(syscall.SIGTERM) == nil {
		_ = p.resume() // a frozen child sees the signal only when it goes on; if it cannot, kill follows
		t := time.NewTimer(p.grace)
		select {
		case <-p.done:
		case <-t.C:
		}
		t.Stop()
	}
	err := p.kill()
	if rmErr := os.RemoveAll(p.dir); rmErr != nil {
		err = errors.Join(err, fmt.Errorf("server: removing the files of %s: %w", p.name, rmErr))
	}
	return err
}
