package memcache

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// hashMark begins every hashed key, and no other: a legal key that begins with it is
// hashed too, so that two different keys never meet.
const hashMark = "~#"

// wireKey returns the key under which memcached keeps key: the key itself where the
// protocol can carry it, else the mark and its SHA-256.
func wireKey(key string) string {
	if legal(key) && !strings.HasPrefix(key, hashMark) {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hashMark + base64.RawURLEncoding.EncodeToString(sum[:])
}

func wireKeys(keys []string) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = wireKey(key)
	}
	return names
}

func legal(key string) bool {
	if key == "" || len(key) > maxKey {
		return false
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] == 0x7f {
			return false
		}
	}
	return true
}
