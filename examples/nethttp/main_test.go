package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, url string) (*http.Response, string) {
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

func TestServerLimits(t *testing.T) {
	h, err := server("2/h")
	require.NoError(t, err)
	s := httptest.NewServer(h)
	defer s.Close()
	for range 2 {
		res, body := get(t, s.URL)
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "hello\n", body)
		require.Equal(t, []string{`"api";q=2;w=3600`}, res.Header.Values("RateLimit-Policy"))
	}
	res, body := get(t, s.URL)
	require.Equal(t, 429, res.StatusCode)
	require.Equal(t, []string{"1800"}, res.Header.Values("Retry-After"), "the bucket refills one in half an hour")
	require.Contains(t, body, "quota-exceeded")
}

func TestCrowdStaysWithinTheGuarantee(t *testing.T) {
	h, err := server("50/d")
	require.NoError(t, err)
	s := httptest.NewServer(h)
	defer s.Close()
	var all sync.WaitGroup
	var admitted, denied atomic.Int64
	for range 8 {
		all.Go(func() {
			for range 50 {
				res, err := http.Get(s.URL)
				if err != nil {
					t.Error(err)
					return
				}
				res.Body.Close()
				switch res.StatusCode {
				case 200:
					admitted.Add(1)
				case 429:
					denied.Add(1)
				default:
					t.Error(res.Status)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, int64(50), admitted.Load())
	require.Equal(t, int64(350), denied.Load())
}

func TestWrongLimit(t *testing.T) {
	_, err := server("many")
	require.ErrorContains(t, err, "weir: limit")
}
