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
	reset := noReset
	for _, first := range c.heads {
		for q := first; q != nil; q = q.next {
			var err error
			if numbers, reset, err = q.read(numbers, reset); err != nil {
				return err
			}
		}
	}
	if len(numbers) > 0 {
		return fmt.Errorf("%w: more answers than questions", store.ErrGarbled)
	}
	return nil
}

// noReset stands for the reset told before where none was. [store.Reply.Check] refuses it.
const noReset int64 = -1

// read takes one decision: four times what remains, two more where the reset is the one told before, and
// one more where it is allowed; then for a denied one when to come again; then, unless told before,
// when the state is as new. Or it is a mark alone. It returns what follows, and the reset told last.
func (q *request) read(n []int64, reset int64) ([]int64, int64, error) {
	if len(n) == 0 {
		return nil, 0, fmt.Errorf("%w: fewer answers than questions", store.ErrGarbled)
	}
	first, n := n[0], n[1:]
	switch first {
	case markCorrupt:
		q.fail(store.ErrCorrupt)
		return n, reset, nil
	case markWrongType:
		q.fail(fmt.Errorf("%w: %w", store.ErrCorrupt, wrongType{}))
		return n, reset, nil
	case markGarbled:
		q.fail(fmt.Errorf("%w: what no step may", store.ErrGarbled))
		return n, reset, nil
	}
	allowed, again := first&1 == 1, first&2 == 2
	more := 2
	if allowed {
		more--
	}
	if again {
		more--
	}
	if first < 0 || len(n) < more {
		return nil, 0, fmt.Errorf("%w: %d begins no decision", store.ErrGarbled, first)
	}
	if !again {
		reset = n[more-1]
	}
	q.reply = store.Reply{Allowed: allowed, Remaining: first >> 2, ResetAfter: reset}
	if !allowed {
		q.reply.RetryAfter = n[0]
	}
	if err := q.reply.Check(); err != nil {
		q.fail(err)
	}
	return n[more:], reset, nil
}

// wrongType is the server's error for one key among many, as [goredis.Error] has it.
type wrongType struct{}

func (wrongType) Error() string {
	return "WRONGTYPE Operation against a key holding the wrong kind of value"
}

func (wrongType) RedisError() {}
