package backend

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for raw, want := range map[string]target{
		"memory:":                  {kind: KindMemory},
		"redis:private":            {kind: KindRedis, scheme: "redis", private: true},
		"memcache:private":         {kind: KindMemcache, scheme: "memcache", private: true},
		"memcache+counter:private": {kind: KindMemcache, scheme: "memcache+counter", private: true, counterOnly: true},
		"redis://h":                {kind: KindRedis, scheme: "redis", addrs: []string{"h:6379"}},
		"redis://h/":               {kind: KindRedis, scheme: "redis", addrs: []string{"h:6379"}},
		"redis://h:7/3":            {kind: KindRedis, scheme: "redis", addrs: []string{"h:7"}, path: "3", database: 3},
		"redis://[::1]:7":          {kind: KindRedis, scheme: "redis", addrs: []string{"[::1]:7"}},
		"redis://[::1]":            {kind: KindRedis, scheme: "redis", addrs: []string{"[::1]:6379"}},
		"rediss://h:7":             {kind: KindRedis, scheme: "rediss", addrs: []string{"h:7"}, tls: true},
		"redis://u:p%40%2F@h:7/3": {
			name: "redis://h:7/3", kind: KindRedis, scheme: "redis", addrs: []string{"h:7"}, path: "3", database: 3,
			credentials: "u:p%40%2F@", user: "u", password: "p@/",
		},
		"redis://:a@b/c#d@h": {
			name: "redis://h", kind: KindRedis, scheme: "redis", addrs: []string{"h:6379"},
			credentials: ":a@b/c#d@", password: "a@b/c#d",
		},
		"redis+cluster://h1,h2:7":  {kind: KindRedis, scheme: "redis+cluster", addrs: []string{"h1:6379", "h2:7"}, cluster: true},
		"rediss+cluster://h1/0":    {kind: KindRedis, scheme: "rediss+cluster", addrs: []string{"h1:6379"}, path: "0", cluster: true, tls: true},
		"redis+sentinel://h1,h2/m": {kind: KindRedis, scheme: "redis+sentinel", addrs: []string{"h1:26379", "h2:26379"}, path: "m", master: "m"},
		"redis+sentinel://u:p@h1:7/my%2Fm/2": {
			name: "redis+sentinel://h1:7/my%2Fm/2", kind: KindRedis, scheme: "redis+sentinel", addrs: []string{"h1:7"},
			path: "my%2Fm/2", master: "my/m", database: 2, credentials: "u:p@", user: "u", password: "p",
		},
		"memcache://h1,h2:7":    {kind: KindMemcache, scheme: "memcache", addrs: []string{"h1:11211", "h2:7"}},
		"memcache+counter://h1": {kind: KindMemcache, scheme: "memcache+counter", addrs: []string{"h1:11211"}, counterOnly: true},
	} {
		t.Run(raw, func(t *testing.T) {
			got, err := parse(raw)
			require.NoError(t, err)
			require.NoError(t, Check(raw))
			if want.name == "" {
				want.name = raw
			}
			require.Equal(t, want, got)
		})
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for raw, want := range map[string][]string{
		"":                                {`store ""`, "want memory:"},
		"memory":                          {`store "memory"`, "want memory:"},
		"memory://":                       {"want memory:"},
		"redis":                           {"redis:private"},
		"redis:privat":                    {`"redis:privat"`, "redis:private"},
		"http://h":                        {`"http://h"`, "redis://host:port/0"},
		"http://u:s3cret@h":               {`"…@h"`, "redis://host:port/0"},
		"redis:u:s3cret@h":                {`"…@h"`, "redis://host:port/0"},
		"redis://":                        {`host ""`, "a name or an address"},
		"redis://:7":                      {`host ":7"`, "a name or an address"},
		"redis://h h":                     {`host "h h"`, "a name or an address"},
		"redis://h:0":                     {`port "0"`, "1 to 65535"},
		"redis://h:65536":                 {`port "65536"`, "1 to 65535"},
		"redis://h:x":                     {`port "x"`, "1 to 65535"},
		"redis://::1":                     {`host "::1"`, "brackets"},
		"redis://h1,h2":                   {`host "h1,h2"`, "redis+cluster://"},
		"redis://h/x":                     {`database "x"`, "whole number"},
		"redis://h/-1":                    {`database "-1"`, "whole number"},
		"redis://h/0/1":                   {`database "0/1"`, "whole number"},
		"redis://h?db=1":                  {`parameters "?db=1"`, "want none"},
		"redis://h/0#x":                   {`parameters "#x"`, "want none"},
		"redis://s3cret@h":                {`store "redis://h"`, "user:password@"},
		"redis://u:%zz-s3cret@h":          {`store "redis://h"`, "percent-encoded"},
		"redis://u:s3cret@h:0":            {`store "redis://h:0"`, `port "0"`},
		"redis://u:a/s3cret@h:0":          {`store "redis://h:0"`, `port "0"`},
		"redis+cluster://h1,":             {`host ""`, "a name or an address"},
		"redis+cluster://h1,h1:6379":      {`host "h1:6379"`, "each host once"},
		"redis+cluster://h1/1":            {`database "1"`, "none"},
		"redis+sentinel://h1":             {`name ""`, "/mymaster/0"},
		"redis+sentinel://h1/m/x":         {`database "x"`, "whole number"},
		"redis+sentinel://u:s3cret@h1":    {`name ""`, "/mymaster/0"},
		"memcache://":                     {`host ""`, "a name or an address"},
		"memcache://h:99999":              {`port "99999"`, "1 to 65535"},
		"memcache://h/1":                  {`path "1"`, "none"},
		"memcache+counter://u:s3cret@h:1": {`store "memcache+counter://h:1"`, "user and password", "want none"},
		"memcache+cas://h":                {"want memory:"},
	} {
		t.Run(raw, func(t *testing.T) {
			err := Check(raw)
			require.Error(t, err)
			require.True(t, strings.HasPrefix(err.Error(), "backend: store "), err)
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "s3cret")
			for _, part := range want {
				require.ErrorContains(t, err, part)
			}
			_, opened := Open(t.Context(), raw, nil)
			require.Equal(t, err, opened)
		})
	}
}

func TestOpenNamesTheOptionThatIsWrong(t *testing.T) {
	_, err := Open(t.Context(), "memory:", &Options{Callers: -1})
	require.EqualError(t, err, "backend: Callers -1: want at least 1, or 0 for the stores' defaults")
	_, err = Open(t.Context(), "memory:", &Options{MemoryCap: -1})
	require.ErrorContains(t, err, "MemoryCap -1: want bytes above 0")
}

func FuzzParseHoldsNoCredential(f *testing.F) {
	for _, seed := range []string{"redis://u:%s@h", "redis://%s@h/0", "%s@h", "memcache://%s@h?x", "redis+sentinel://:%s@h/m/x", "redis:%s@[::1"} {
		f.Add(seed)
	}
	const secret = "Zq9-s3cret"
	f.Fuzz(func(t *testing.T, form string) {
		raw := strings.Replace(form, "%s", secret, 1)
		if i := strings.Index(raw, secret); i < 0 || !strings.Contains(raw[i:], "@") {
			t.Skip("no credential in it")
		}
		got, err := parse(raw)
		if err != nil {
			require.NotContains(t, err.Error(), secret)
			return
		}
		require.NotContains(t, got.name, secret)
		again, err := parse(got.at("127.0.0.1:1"))
		require.NoError(t, err)
		require.Equal(t, got.password, again.password)
		_, err = url.PathUnescape(strings.TrimSuffix(got.credentials, "@"))
		require.NoError(t, err)
	})
}

// FuzzParse: any text is a store's URL that reads the same with another address in it, or an error of one line.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"memory:", "redis:private", "memcache+counter:private", "redis://h", "rediss://[::1]:7/3", "redis+sentinel://h1,h2/my%2Fm/2", "redis+cluster://h1,h2:7",
		"memcache://h1,h2:7", "redis://u:p%40@h:7/3", "redis://h:0", "redis://[h]]/", "redis://h%00", "redis://h\n/0", "redis+sentinel://h/%zz", "redis://h/99999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parse(raw)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "backend: store "), err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Contains(t, []string{KindMemory, KindRedis, KindMemcache}, got.kind)
		if got.kind == KindMemory || got.private {
			require.Empty(t, got.addrs)
			return
		}
		require.NotEmpty(t, got.addrs)
		for _, addr := range got.addrs {
			host, port, err := net.SplitHostPort(addr)
			require.NoError(t, err)
			require.NotEmpty(t, host)
			require.NotEmpty(t, port)
		}
		again, err := parse(got.at("127.0.0.1:1"))
		require.NoError(t, err)
		again.addrs, again.name = got.addrs, got.name
		require.Equal(t, got, again)
	})
}
