package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

// TestNoSentinelThere asks a server that is no Sentinel: the client's own log stays silent.
func TestNoSentinelThere(t *testing.T) {
	server := miniredis.RunT(t)
	cmd := exec.Command("weir", "matrix", "--store", "redis+sentinel://"+server.Addr()+"/primary/0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	require.True(t, errors.As(cmd.Run(), &exit))
	require.Equal(t, exitUnreachable, exit.ExitCode())
	require.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
	require.True(t, strings.HasPrefix(stderr.String(), "weir: backend: redis+sentinel://"), stderr.String())
}
