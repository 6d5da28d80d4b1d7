package redis

import (
	"context"
	"crypto/sha1"
	"encoding/hex"

	goredis "github.com/redis/go-redis/v9"
)

// script is Lua source and the name by which the server knows it.
type script struct{ source, hash string }

func newScript(source string) *script {
	sum := sha1.Sum([]byte(source))
	return &script{source: source, hash: hex.EncodeToString(sum[:])}
}

// run runs a script on one key. If the server does not know it, and so did not run it,
// it is sent once more with the source.
func (s *Store) run(ctx context.Context, sc *script, key string, args ...any) (any, error) {
	all := append(make([]any, 0, 4+len(args)), "evalsha", sc.hash, 1, key)
	all = append(all, args...)
	value, err := s.one(ctx, all...)
	if err != nil && goredis.HasErrorPrefix(err, "NOSCRIPT") {
		all[0], all[1] = "eval", sc.source
		value, err = s.one(ctx, all...)
	}
	return value, err
}
