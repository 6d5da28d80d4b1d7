package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/peers/versus"
	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// The program that is built knows the versions that are pinned; a test's binary does not.
func TestQuickRun(t *testing.T) {
	s, err := server.StartRedis(t.Context(), nil)
	servertest.Adopt(t, s, err)
	s, err = server.StartMemcached(t.Context(), nil)
	servertest.Adopt(t, s, err)

	dir := t.TempDir()
	program, file := filepath.Join(dir, "peers"), filepath.Join(dir, "new", "results.json")
	built, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	var out, log bytes.Buffer
	c := exec.Command(program, "-quick", "-o", file)
	c.Stdout, c.Stderr = &out, &log
	require.NoError(t, c.Run(), log.String())
	require.Contains(t, out.String(), "on memcache")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var results versus.Results
	require.NoError(t, json.Unmarshal(text, &results))
	require.Equal(t, []string{"-quick", "-o", file}, results.Environment.Flags)
	require.Len(t, results.Environment.Servers, 2)
	pinned, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	for _, row := range results.Rows {
		require.Empty(t, row.Error, row.String())
		if !row.Ours {
			require.Contains(t, string(pinned), "\t"+row.Module+" "+row.Version+"\n")
		}
	}
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		log  string
	}{
		{[]string{"-h"}, 0, "-quick"},
		{[]string{"more"}, 2, `peers: argument "more": want none`},
		{[]string{"-unknown"}, 2, "not defined"},
	} {
		var out, log bytes.Buffer
		require.Equal(t, c.code, run(context.Background(), c.args, &out, &log))
		require.Contains(t, log.String(), c.log)
		require.Empty(t, out.String())
	}
}

func TestMissingServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, log bytes.Buffer
	require.Equal(t, 3, run(context.Background(), []string{"-quick"}, &out, &log))
	require.Contains(t, log.String(), "want the server itself on PATH")
}
