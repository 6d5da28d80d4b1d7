package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store/memory"
)

// asking returns how to ask a proxy in front of a model that uses so many tokens, or that
// fails where that is below zero.
func asking(t *testing.T, uses *atomic.Int64) func(customer string, maxTokens int64) *http.Response {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if uses.Load() < 0 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, `{"text":"...","usage":{"total_tokens":%d}}`, uses.Load())
	}))
	t.Cleanup(model.Close)
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	h, err := proxy(st, model.URL)
	require.NoError(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return func(customer string, maxTokens int64) *http.Response {
		body := fmt.Sprintf(`{"prompt":"why?","max_tokens":%d}`, maxTokens)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(body))
		require.NoError(t, err)
		if customer != "" {
			req.Header.Set("Authorization", "Bearer "+customer)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res
	}
}

func TestUnusedTokensAreGivenBack(t *testing.T) {
	var uses atomic.Int64
	uses.Store(10)
	ask := asking(t, &uses)
	for range 20 {
		require.Equal(t, 200, ask("a", 9000).StatusCode, "20 times 9,000 asked for, 200 used")
	}
	uses.Store(9001)
	require.Equal(t, 200, ask("a", 9000).StatusCode)
	require.Equal(t, 429, ask("a", 9000).StatusCode, "used: it counts")
	require.Equal(t, 200, ask("b", 9000).StatusCode, "another customer")
}

func TestAFailedCallCostsNothing(t *testing.T) {
	var uses atomic.Int64
	uses.Store(-1)
	ask := asking(t, &uses)
	for range 5 {
		require.Equal(t, 502, ask("a", 9000).StatusCode)
	}
	uses.Store(1)
	require.Equal(t, 200, ask("a", 9000).StatusCode)
}

func TestMoreThanTheLimitIsNeverAdmitted(t *testing.T) {
	var uses atomic.Int64
	uses.Store(1)
	ask := asking(t, &uses)
	res := ask("a", 20_000)
	require.Equal(t, 429, res.StatusCode)
	require.Empty(t, res.Header.Values("Retry-After"))
	require.Equal(t, 401, ask("", 1).StatusCode)
}
