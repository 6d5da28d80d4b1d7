package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/algorithms"
)

// Whatever joins the registry is in every table and run of the program: no verb has a list of its own.
func TestEveryRegisteredAlgorithmIsInEveryVerb(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // stand-ins
	trace := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(trace, []byte("time,key\n1700000000,a\n1700000000.5,a\n"), 0o600))
	for verb, args := range map[string][]string{
		"matrix":  nil,
		"compare": {"--quick"},
		"replay":  {"--trace", trace},
		"hammer":  {"--processes", "1", "--workers", "2", "--requests", "12", "--runs", "1"},
	} {
		t.Run(verb, func(t *testing.T) {
			var out, errs bytes.Buffer
			args = append([]string{verb, "--store", "memory:", "--format", "json"}, args...)
			require.Zero(t, run(t.Context(), args, strings.NewReader(""), &out, &errs), errs.String())
			var found struct {
				Results []struct {
					Algorithm   string
					Unsupported any
					Error       string
				}
			}
			require.NoError(t, json.Unmarshal(out.Bytes(), &found))
			ran := map[string]bool{}
			for _, r := range found.Results {
				ran[r.Algorithm] = r.Unsupported == nil && r.Error == ""
			}
			for _, e := range algorithms.Registry() {
				require.True(t, ran[e.Name], "%s: %s does not run there", verb, e.Name)
			}
		})
	}
}

// The program completes every registered name.
func TestEveryRegisteredAlgorithmIsCompleted(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"__complete", "compare", "--algorithm", ""}, strings.NewReader(""), &out, &errs), errs.String())
	for _, e := range algorithms.Registry() {
		require.Contains(t, strings.Split(out.String(), "\n"), e.Name)
	}
}
