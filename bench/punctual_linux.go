package bench

import (
	"runtime"
	"syscall"
	"time"
)

// timerSlack is PR_SET_TIMERSLACK: by how much the kernel may be late, for this thread.
const timerSlack = 29

// punctual makes [sleepUntil] as punctual as the system can. Go's own timers are late by up to a
// millisecond where nothing else is to be done. It is for a goroutine that ends soon: its thread ends too.
func punctual() {
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, timerSlack, 1, 0) // without it we are later, no more
}

func sleepUntil(at time.Time) {
	for wait := time.Until(at); wait > 0; wait = time.Until(at) {
		t := syscall.NsecToTimespec(wait.Nanoseconds())
		_ = syscall.Nanosleep(&t, nil) // a signal ends it early
	}
}
