package weir

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
)

// maxUserKey is the longest user key, in bytes, that is stored as it is. Longer ones
// are hashed, so that a client cannot choose how much memory its key takes.
const maxUserKey = 128

// keyspace builds keys: prefix "/" tag "/" user key. The prefix and the tag hold no
// "/", so two different triples never meet.
type keyspace struct{ space string }

func newKeyspace(prefix, algorithm, format string, window time.Duration) (keyspace, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	bad := len(prefix) > 64
	for i := range len(prefix) {
		c := prefix[i]
		bad = bad || c <= ' ' || c >= 0x7f || c == '/' || c == '{' || c == '}'
	}
	if bad {
		return keyspace{}, &FieldError{
			Field: "prefix", Value: strconv.Quote(prefix),
			Want: `1 to 64 printable ASCII characters without space, "/", "{" and "}"`,
		}
	}
	return keyspace{space: fmt.Sprintf("%s/%s.%s.%s/", prefix, algorithm, format, formatWindow(window))}, nil
}

// user returns the user's part of the key. The first byte tells a hashed key from one
// that is stored as it is.
func (k keyspace) user(key string) string {
	if len(key) <= maxUserKey && (key == "" || key[0] != '#') {
		return key
	}
	return hashed(key)
}

func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "#" + base64.RawURLEncoding.EncodeToString(sum[:])
}
