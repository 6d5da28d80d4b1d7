package memcachetest

import (
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startReal starts a memcached of its own on a free loopback port and returns its address. Its background work is off, so that it
// frees dead items when they are asked for and at no other time.
func startReal(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("memcached")
	if err != nil {
		if os.Getenv("WEIR_REQUIRE_SERVERS") == "1" {
			require.NoError(t, err, "WEIR_REQUIRE_SERVERS=1 needs memcached on PATH")
		}
		t.Skip("memcached is not on PATH: nothing to compare with")
	}
	me, err := user.Current()
	require.NoError(t, err)

	// The port is free when we look; should another process take it first, memcached exits and we look again.
	for range 5 {
		probe, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		port := probe.Addr().(*net.TCPAddr).Port
		require.NoError(t, probe.Close())

		cmd := exec.Command(path, "-l", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "0", "-u", me.Username,
			"-t", "1", "-o", "no_lru_crawler,no_lru_maintainer")
		require.NoError(t, cmd.Start())
		exited := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(exited)
		}()
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			<-exited
		})
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if answers(addr, exited) {
			return addr
		}
	}
	require.Fail(t, "memcached did not start")
	return ""
}

func answers(addr string, exited <-chan struct{}) bool {
	for range 500 {
		select {
		case <-exited:
			return false
		case <-time.After(10 * time.Millisecond):
		}
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return true
		}
	}
	return false
}
