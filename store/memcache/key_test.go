package memcache_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store/memcache"
)

// hostileKeys are all different, and most cannot be sent as they are.
func hostileKeys() []string {
	keys := []string{
		"", " ", "  ", "a b", "a\tb", "ab", "a", "b", "a\x00", "a\x00b", "x\x7f", "\x7f", "café", "cafe\u0301", "\u0085", "\xff\xfe",
		"a\r\nset x 0 0 1\r\n1", "x", "k 0 60 1\r\n9\r\n", "\r\n", "\n", "get", "quit", "~#", "~", "~#x",
	}
	for _, n := range []int{200, 249, 250, 251, 10_000} {
		long := strings.Repeat("k", n-1)
		keys = append(keys, long+"1", long+"2", long+" ")
	}
	// What a hashed key becomes is itself a key that somebody may have.
	for _, key := range []string{"", "a b", "~#"} {
		sum := sha256.Sum256([]byte(key))
		keys = append(keys, "~#"+base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	return keys
}

func TestRL034RL035AnyKeyWorksAndNoTwoMeet(t *testing.T) {
	onBoth(t, func(t *testing.T, s *memcache.Store, addr string) {
		ctx, keys := context.Background(), hostileKeys()
		for i, key := range keys {
			add(t, s, key, int64(i+1), int64(i+1))
		}
		for i, n := range read(t, s, keys...) {
			require.Equal(t, int64(i+1), n, "%.60q", keys[i])
		}
		for _, key := range keys {
			value, version := load(t, s, key)
			require.True(t, swap(t, s, key, version, string(value)), "%.60q", key)
			size, err := s.Size(ctx, key)
			require.NoError(t, err)
			require.Positive(t, size)
		}
		require.NoError(t, s.Delete(ctx, keys...))
		require.Equal(t, make([]int64, len(keys)), read(t, s, keys...))
	})
}

func TestLegalKeysAreSentAsTheyAre(t *testing.T) {
	addr := startFake(t, nil).Addr()
	s, client := open(t, addr, nil), clientFor(t, addr)
	for _, key := range []string{"a", "~", "caf\u00e9", strings.Repeat("k", 250), "weir:gcra:1.2.3.4"} {
		add(t, s, key, 1, 1)
		_, err := client.Get(key)
		require.NoError(t, err, "%.60q", key)
	}
}
