package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store/memory"
)

// form is a login form that knows one password for everybody.
func form(t *testing.T) func(from, account, password string) int {
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	h, err := server(st, func(_, password string) bool { return password == "right" })
	require.NoError(t, err)
	return func(from, account, password string) int {
		body := url.Values{"account": {account}, "password": {password}}.Encode()
		r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = from + ":1234"
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
}

func TestOneAccountFromManyAddresses(t *testing.T) {
	try := form(t)
	for i := range 5 {
		require.Equal(t, 401, try(fmt.Sprintf("192.0.2.%d", i), "alice", "wrong"))
	}
	require.Equal(t, 429, try("192.0.2.99", " Alice ", "right"), "one spelling of a name is as good as another")
	require.Equal(t, 200, try("192.0.2.99", "bob", "right"))
}

func TestManyAccountsFromOneAddress(t *testing.T) {
	try := form(t)
	for i := range 20 {
		require.Equal(t, 401, try("192.0.2.1", fmt.Sprint("user", i), "wrong"))
	}
	for i := range 10 {
		require.Equal(t, 429, try("192.0.2.1", fmt.Sprint("user", i%2), "wrong"))
	}
	for range 4 {
		require.Equal(t, 401, try("192.0.2.2", "user0", "wrong"), "what the address was denied did not count for the account")
	}
	require.Equal(t, 429, try("192.0.2.2", "user0", "wrong"))
}

func TestGettingInStartsAfresh(t *testing.T) {
	try := form(t)
	for range 3 {
		for range 4 {
			require.Equal(t, 401, try("192.0.2.1", "alice", "wrong"))
		}
		require.Equal(t, 200, try("192.0.2.1", "alice", "right"))
	}
}
