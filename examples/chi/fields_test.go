package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store/memory"
)

// Whatever the limits and their names, any reader of structured fields reads in RateLimit and
// RateLimit-Policy what the draft asks for.
func TestFieldsAreStructured(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	st := memory.New(nil)
	defer st.Close()
	names := []string{alphabet, "a.b", "burst", "0"}
	rules := make([]httplimit.Rule, len(names))
	for i, limit := range []string{"1000000000/3650d", "2/1ms", "5/1500ms", "1/h"} {
		l, err := weir.ParseLimit(limit)
		require.NoError(t, err)
		limiter, err := weir.New(algorithms.FixedWindowFirstHit(), l, st, nil)
		require.NoError(t, err)
		rules[i] = httplimit.Rule{Name: names[i], Limiter: limiter}
	}
	outer, err := httplimit.New(nil, rules[:2]...)
	require.NoError(t, err)
	inner, err := httplimit.New(nil, rules[2:]...)
	require.NoError(t, err)
	h := outer(inner(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	for _, status := range []int{200, 429} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, status, rec.Code)

		policies := items(t, rec.Header().Values("RateLimit-Policy"))
		require.Len(t, policies, len(names))
		for i, want := range []struct{ q, w int64 }{{1_000_000_000, 315_360_000}, {2, 1}, {5, 2}, {1, 3600}} {
			require.Equal(t, names[i], policies[i].Value)
			require.Equal(t, want.q, param(t, policies[i], "q"))
			require.Equal(t, want.w, param(t, policies[i], "w"))
		}
		limits := items(t, rec.Header().Values("RateLimit"))
		require.Len(t, limits, 1)
		require.Equal(t, "0", limits[0].Value)
		require.Zero(t, param(t, limits[0], "r"))
		require.LessOrEqual(t, param(t, limits[0], "t"), int64(3600))
		require.Positive(t, param(t, limits[0], "t"))
	}
}

// items are the members of a list, all of them strings with parameters that are integers.
func items(t *testing.T, field []string) (items []httpsfv.Item) {
	list, err := httpsfv.UnmarshalList(field)
	require.NoError(t, err, strings.Join(field, "\n"))
	for _, member := range list {
		item, ok := member.(httpsfv.Item)
		require.True(t, ok, "%T", member)
		require.IsType(t, "", item.Value)
		items = append(items, item)
	}
	return items
}

// param is a parameter that has to be there.
func param(t *testing.T, item httpsfv.Item, name string) int64 {
	v, ok := item.Params.Get(name)
	require.True(t, ok, name)
	require.IsType(t, int64(0), v)
	require.GreaterOrEqual(t, v.(int64), int64(0))
	return v.(int64)
}
