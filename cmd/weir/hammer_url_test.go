package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A service without a limit is asked once, and a threshold on what it let through fails the run.
func TestHammerURL(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	hammer := func(more ...string) (int, string, string) {
		var out, errs bytes.Buffer
		args := append([]string{"hammer", "--url", server.URL + "/x?secret=1", "--limit", "2/1s"}, more...)
		code := run(context.Background(), args, strings.NewReader(""), &out, &errs)
		return code, out.String(), errs.String()
	}
	code, out, errs := hammer()
	require.Equal(t, exitDone, code, errs)
	require.Regexp(t, `(?m)^Asked: +http://127\.0\.0\.1:\d+/x, limit 2/1s$`, out)
	require.Regexp(t, `(?m)^Most at once: +18 \(9\.00 x the limit\)$`, out)
	require.Regexp(t, `(?m)^Algorithm: +no limit seen: all of 18 requests at once were admitted$`, out)
	require.NotContains(t, out, "secret")

	code, out, errs = hammer("--fail-if", "max_in_window>2", "--format", "json")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "max_in_window is 18: --fail-if max_in_window>2 holds")
	var rep struct {
		AtOnce int64  `json:"at_once"`
		Name   string `json:"name"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &rep))
	require.EqualValues(t, 18, rep.AtOnce)
	require.Empty(t, rep.Name)

	code, out, _ = hammer("--denied", "404")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, "cannot tell: nothing was admitted")
	code, out, _ = hammer("--format", "csv")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, "\nAllowed,18\n")
	code, out, _ = hammer("--format", "md")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, "\n| Allowed | 18 |\n")
}
