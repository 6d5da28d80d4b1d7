package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store/memory"
)

func TestRouter(t *testing.T) {
	st := memory.New(nil)
	defer st.Close()
	h, err := router(st)
	require.NoError(t, err)
	get := func(path, from string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = from + ":1"
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Result()
	}
	res := get("/books", "192.0.2.1")
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, []string{`"all";r=9;t=6`}, res.Header.Values("RateLimit"))

	res = get("/alice/search", "192.0.2.1")
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, []string{`"search";r=5;t=30`}, res.Header.Values("RateLimit"), "the stricter of both, once")
	require.Equal(t, []string{`"all";q=10;w=60, "search";q=10;w=60`}, res.Header.Values("RateLimit-Policy"))
	require.Equal(t, 200, get("/alice/search", "192.0.2.2").StatusCode)
	require.Equal(t, 429, get("/alice/search", "192.0.2.3").StatusCode, "an account from any address")
	require.Equal(t, 200, get("/bob/search", "192.0.2.3").StatusCode)

	for range 8 {
		require.Equal(t, 200, get("/books", "192.0.2.1").StatusCode)
	}
	require.Equal(t, 429, get("/books", "192.0.2.1").StatusCode)
}
