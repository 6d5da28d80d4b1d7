//go:build linux

package server_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// parentOf, in the environment, makes this test program the parent of one server of that kind.
const parentOf = "WEIR_TEST_PARENT_OF"

func TestMain(m *testing.M) {
	for _, k := range kinds {
		if os.Getenv(parentOf) == k.name {
			s, err := k.start(context.Background(), 0)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(s.Addr)
			select {}
		}
	}
	os.Exit(m.Run())
}

func TestDiesWithItsParent(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		ownTempDir(t)            // the killed parent cannot remove its server's files
		k.run(t, t.Context(), 0) // skips where the program is missing
		self, err := os.Executable()
		require.NoError(t, err)
		parent := exec.Command(self)
		parent.Env = append(os.Environ(), parentOf+"="+k.name)
		parent.Stderr = os.Stderr
		stdout, err := parent.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, parent.Start())
		addr, readErr := bufio.NewReader(stdout).ReadString('\n')
		addr = strings.TrimSpace(addr)
		if readErr == nil {
			require.Contains(t, ask(t, dial(t, addr), k.question), k.answer)
		}
		require.NoError(t, parent.Process.Kill())
		require.Error(t, parent.Wait(), "killed")
		require.NoError(t, readErr)
		requireGone(t, addr)
	})
}

// The kernel watches the thread that started a child, so the server must not be a child of its caller's thread.
func TestOutlivesTheCallersThread(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		k.run(t, t.Context(), 0) // skips where the program is missing
		var (
			s   *server.Server
			err error
		)
		tid := onOwnThread(func() { s, err = k.start(t.Context(), 0) })
		s = servertest.Adopt(t, s, err)
		require.Eventually(t, func() bool {
			_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
			return os.IsNotExist(err)
		}, 10*time.Second, time.Millisecond, "the caller's thread ends")
		require.Contains(t, ask(t, dial(t, s.Addr), k.question), k.answer)
	})
}

// onOwnThread runs f on a thread that ends afterwards, and returns the thread's id.
func onOwnThread(f func()) (tid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if tid = syscall.Gettid(); tid == os.Getpid() {
			// The main thread never ends, but while it waits here another one has to serve.
			tid = onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		f() // and the thread ends with its goroutine, which never unlocks it
	}()
	<-done
	return tid
}

// A terminal sends its interrupt to a whole process group.
func TestHasAProcessGroupOfItsOwn(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		s := k.run(t, t.Context(), 0)
		group, err := syscall.Getpgid(s.PID)
		require.NoError(t, err)
		require.NotEqual(t, syscall.Getpgrp(), group)
	})
}
