package main

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// What package choose estimates from is what docs/results holds.
func TestTheModelIsUpToDate(t *testing.T) {
	t.Parallel()
	want, err := condense(os.DirFS("../../../docs/results"))
	require.NoError(t, err)
	have, err := os.ReadFile("../../../choose/model.json")
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "run go generate ./choose")
}

func TestResultsThatAreNone(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{`:              "compare.json: unexpected end",
		`{"version": 2}`: "compare.json: version 2: want 1",
		`{"version": 1, "incomplete": "interrupted"}`:                                     "ended early (interrupted)",
		`{"version": 1, "limit": {"text": "10/1s"}, "results": [{"algorithm": "magic"}]}`: `"magic"`,
		`{"version": 1, "limit": {"text": "ten"}, "results": [{"algorithm": "gcra", "store": "redis:", "plan": "script", "memory": [{"events": 1, "bytes_per_key": 9}]}]}`: `limit`,
	} {
		_, err := condense(fstest.MapFS{"compare.json": {Data: []byte(content)}})
		require.ErrorContains(t, err, want)
	}
}
