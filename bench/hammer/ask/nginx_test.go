//go:build live

package ask_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/hammer/ask"
)

const nginxConfig = `daemon off;
master_process off;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	limit_req_zone $binary_remote_addr zone=z:1m rate=10r/s;
	server {
		listen %[2]s;
		location = /plain { limit_req zone=z; try_files /none @ok; }
		location = /burst { limit_req zone=z burst=5; try_files /none @ok; }
		location = /nodelay { limit_req zone=z burst=5 nodelay; try_files /none @ok; }
		location = /free { try_files /none @ok; }
		location @ok { return 204; }
	}
}
`

// nginx starts one on a free loopback port and stops it when t ends.
func nginx(t *testing.T) string {
	path, err := exec.LookPath("nginx")
	require.NoError(t, err, "this test needs nginx on PATH")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.Addr().String()
	require.NoError(t, free.Close())
	dir := t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, addr), 0o600))
	cmd := exec.Command(path, "-p", dir, "-c", config, "-e", filepath.Join(dir, "error.log"))
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	return "http://" + addr
}

// The leaky bucket of nginx is the bucket that gcra is: one place and the burst, with or without letting requests wait.
func TestNginx(t *testing.T) {
	url := nginx(t)
	for path, want := range map[string]struct {
		name string
		held bool
	}{
		"/plain":   {"gcra,burst=1", false},
		"/nodelay": {"gcra,burst=6", false},
		"/burst":   {"gcra,burst=6", true},
	} {
		t.Run(path[1:], func(t *testing.T) {
			rep, err := ask.Run(context.Background(), ask.Config{URL: url + path, Limit: weir.Limit{Count: 10, Window: time.Second}})
			require.NoError(t, err)
			require.Equal(t, want.name, rep.Name(), "%s: %+v", rep.Conclusion(), rep)
			require.Equal(t, want.held, rep.HeldUS > 0, "%d", rep.HeldUS)
			require.Equal(t, ask.Absent, rep.RetryAfter.Truth)
			require.Equal(t, ask.Absent, rep.Remaining.Truth)
			if !want.held { // who waits for an answer there comes back too late
				require.Equal(t, ask.False, rep.Forged[0].Fresh)
			}
			require.NotEqual(t, ask.True, rep.Forged[0].Fresh)
			require.Equal(t, "address", rep.Clients)
		})
	}
	rep, err := ask.Run(context.Background(), ask.Config{URL: url + "/free", Limit: weir.Limit{Count: 10, Window: time.Second}})
	require.NoError(t, err)
	require.True(t, rep.Unlimited)
	require.Empty(t, rep.Name())
	require.Empty(t, rep.Candidates)
	require.EqualValues(t, 82, rep.AtOnce)
}
