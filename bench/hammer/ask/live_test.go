//go:build live

package ask_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/hammer/ask"
	"github.com/weirlimits/weir/httplimit"
)

// On a real network, clients are told apart by address or by header.
func TestRealService(t *testing.T) {
	for kind, key := range map[string]httplimit.Key{"address": nil, "header": httplimit.Header("X-Api-Key")} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewServer(serve(t, "gcra", tenPerSecond, key))
			defer server.Close()
			c := ask.Config{URL: server.URL, Limit: tenPerSecond}
			if key != nil {
				c.Header = http.Header{"X-Api-Key": {"key-{n}"}}
			}
			rep, err := ask.Run(context.Background(), c)
			require.NoError(t, err)
			require.Equal(t, kind, rep.Clients)
			require.Equal(t, "gcra", rep.Name(), "%s: %+v", rep.Conclusion(), rep.Candidates)
			require.LessOrEqual(t, rep.MaxInWindow, int64(19))
			require.GreaterOrEqual(t, rep.AtOnce, int64(10))
		})
	}
}

// What simulated time shows holds on a real network.
func TestNamesRealServicesBlind(t *testing.T) {
	for _, name := range blind {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(serve(t, name, tenPerSecond, nil))
			defer server.Close()
			rep, err := ask.Run(context.Background(), ask.Config{URL: server.URL, Limit: tenPerSecond})
			require.NoError(t, err)
			require.Equal(t, name, rep.Name(), "%s: %+v", rep.Conclusion(), rep.Candidates)
			require.NotEqual(t, ask.False, rep.RetryAfter.Truth, "%+v", rep.RetryAfter)
			require.NotEqual(t, ask.False, rep.Remaining.Truth, "%+v", rep.Remaining)
			require.NotEqual(t, ask.True, rep.Forged[0].Fresh, "%+v", rep.Forged)
		})
	}
}
