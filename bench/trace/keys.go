package trace

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// keyring keeps one string per key, however often it comes, and hides it if asked to.
type keyring struct {
	known map[string]string
	mac   hash.Hash // nil: keys stay as they are
}

func newKeyring(opts *Options) *keyring {
	k := &keyring{known: make(map[string]string)}
	if opts.Anonymize {
		salt := opts.Salt
		if len(salt) == 0 {
			salt = make([]byte, sha256.Size)
			rand.Read(salt) // never fails: it ends the program instead
		}
		k.mac = hmac.New(sha256.New, salt)
	}
	return k
}

func (k *keyring) len() int { return len(k.known) }

func (k *keyring) intern(key []byte) string {
	if s, ok := k.known[string(key)]; ok {
		return s
	}
	s := string(key)
	k.known[s] = k.token(s)
	return k.known[s]
}

// token is the key itself, or 64 bits of its HMAC: two of a million clients meet with a probability below 1 in 10^7.
func (k *keyring) token(key string) string {
	if k.mac == nil {
		return key
	}
	k.mac.Reset()
	k.mac.Write([]byte(key))
	return hex.EncodeToString(k.mac.Sum(nil)[:8])
}
