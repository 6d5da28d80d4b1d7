package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/backend"
)

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{failed(errors.New("x")), 1},
		{errors.New("x"), 2},
		{fmt.Errorf("backend: x: %w", backend.ErrUnreachable), 3},
		{unreachable(errors.New("x")), 3},
		{fmt.Errorf("x: %w", context.Canceled), 130},
		{failed(context.Canceled), 130},
	} {
		require.Equal(t, c.code, exitCode(c.err), "%v", c.err)
	}
}

func TestOneLine(t *testing.T) {
	require.Equal(t, "weir: limit: x", oneLine(errors.New("weir: limit: x")))
	require.Equal(t, "weir: bench: a; b\uFFFD[31m", oneLine(errors.New("bench: a\r\nb\x1b[31m")))
	require.Equal(t, "weir: interrupted", oneLine(fmt.Errorf("x: %w", context.Canceled)))
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{
		"compare --quick --store memory: --algorithm gcra",
		"replay --trace - --store memory: --algorithm gcra",
	} {
		var stderr bytes.Buffer
		code := run(ctx, strings.Fields(args), strings.NewReader("1000,a\n"), io.Discard, &stderr)
		require.Equal(t, exitInterrupted, code, stderr.String())
		require.True(t, strings.HasSuffix(stderr.String(), "weir: interrupted\n"), stderr.String())
	}
}

// brokenPipe is a reader of our output that went away.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestStandardOutputFails(t *testing.T) {
	for _, args := range []string{
		"matrix --store memory:",
		"replay --trace - --store memory: --algorithm gcra",
		"replay --trace - --store memory: --algorithm gcra --decisions",
	} {
		var stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), strings.NewReader("1000,a\n"), brokenPipe{}, &stderr)
		require.Equal(t, exitFailed, code, args)
		require.Contains(t, stderr.String(), "weir: standard output: ", args)
	}
}
