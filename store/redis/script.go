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

// call is one run of a script, on keys of one slot.
type call struct {
	script *script
	keys   []string
	args   []any
}

func (c *call) command(ctx context.Context, verb, body string) once {
	args := make([]any, 0, 3+len(c.keys)+len(c.args))
	args = append(args, verb, body, len(c.keys))
	for _, key := range c.keys {
		args = append(args, key)
	}
	return command(ctx, append(args, c.args...)...)
}

// evaluate runs the calls in their order, in one round trip. Those whose script the
// server does not know, and so did not run, are sent once more with the source.
func (s *Store) evaluate(ctx context.Context, calls []call) []answer {
	cmds := make([]once, len(calls))
	for i := range calls {
		cmds[i] = calls[i].command(ctx, "evalsha", calls[i].script.hash)
	}
	answers := s.ask(ctx, cmds)

	var unknown []int
	cmds = cmds[:0:0]
	for i, a := range answers {
		if a.err != nil && goredis.HasErrorPrefix(a.err, "NOSCRIPT") {
			unknown = append(unknown, i)
			cmds = append(cmds, calls[i].command(ctx, "eval", calls[i].script.source))
		}
	}
	if unknown != nil {
		for i, a := range s.ask(ctx, cmds) {
			answers[unknown[i]] = a
		}
	}
	return answers
}

// run runs a script on one key.
func (s *Store) run(ctx context.Context, sc *script, key string, args ...any) (any, error) {
	a := s.evaluate(ctx, []call{{script: sc, keys: []string{key}, args: args}})[0]
	return a.value, a.err
}
