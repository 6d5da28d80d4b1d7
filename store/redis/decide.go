package redis

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/weirlimits/weir/store"
)

// request is one decision to make, and then what became of it.
type request struct {
	runner *runner
	key    string // in full
	args   store.Args
	reply  store.Reply
	err    error // why there is no reply

	next, last *request // further ones on the same key; last is kept by the first
	call       int      // by which the first is decided

	gathering
}

func (q *request) fail(err error) {
	q.reply = store.Reply{}
	q.err = q.runner.failed(err)
}

// decide makes the decisions in one round trip, those on the same key as if they had
// come one after another. It tells whether nobody looks at the requests any more: a client that
// ignores deadlines may.
func (s *Store) decide(ctx context.Context, requests []*request, exchange func(context.Context, []goredis.Cmder) error) bool {
	t := s.newTrip(ctx, requests)
	if err := exchange(ctx, t.cmds); err != nil {
		for _, q := range requests {
			q.fail(err)
		}
		return false
	}
	var lost error // of those that were sent again
	if again := t.unknown(ctx); again != nil {
		lost = exchange(ctx, again)
	}
	for i, result := range t.results {
		c := &t.calls[i]
		if c.again && lost != nil {
			c.fail(lost)
			continue
		}
		numbers, err := result.Result()
		if err != nil {
			err = s.failure(ctx, err)
		} else {
			err = c.read(numbers)
		}
		if err != nil {
			c.fail(err)
		}
	}
	if lost != nil {
		return false
	}
	t.free()
	return true
}

// What the driver answers in place of a decision.
const (
	markCorrupt   = -1
	markWrongType = -2
	markGarbled   = -3
)

// read hands out the decisions. Its error is the whole reply's.
func (c *call) read(numbers []int64) error {
	for _, first := range c.heads {
		for q := first; q != nil; q = q.next {
			var err error
			if numbers, err = q.read(numbers); err != nil {
				return err
			}
		}
	}
	if len(numbers) > 0 {
		return fmt.Errorf("%w: more answers than questions", store.ErrGarbled)
	}
	return nil
}

// read takes one decision: twice what remains, and one more where it is allowed; then
// for a denied one when to come again; then when the state is as new. Or it is a mark alone.
func (q *request) read(n []int64) ([]int64, error) {
	if len(n) == 0 {
		return nil, fmt.Errorf("%w: fewer answers than questions", store.ErrGarbled)
	}
	switch n[0] {
	case markCorrupt:
		q.fail(store.ErrCorrupt)
		return n[1:], nil
	case markWrongType:
		q.fail(fmt.Errorf("%w: %w", store.ErrCorrupt, wrongType{}))
		return n[1:], nil
	case markGarbled:
		q.fail(fmt.Errorf("%w: what no step may", store.ErrGarbled))
		return n[1:], nil
	}
	used := 2
	if n[0]&1 == 0 {
		used = 3
	}
	if n[0] < 0 || len(n) < used {
		return nil, fmt.Errorf("%w: %d begins no decision", store.ErrGarbled, n[0])
	}
	q.reply = store.Reply{Allowed: used == 2, Remaining: n[0] >> 1, ResetAfter: n[used-1]}
	if used == 3 {
		q.reply.RetryAfter = n[1]
	}
	if err := q.reply.Check(); err != nil {
		q.fail(err)
	}
	return n[used:], nil
}

// wrongType is the server's error for one key among many, as [goredis.Error] has it.
type wrongType struct{}

func (wrongType) Error() string {
	return "WRONGTYPE Operation against a key holding the wrong kind of value"
}

func (wrongType) RedisError() {}
