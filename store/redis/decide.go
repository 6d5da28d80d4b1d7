package redis

import (
	"context"
	"fmt"

	"github.com/weirlimits/weir/store"
)

// request is one decision to make.
type request struct {
	key  string
	args store.Args
}

// now is the driver's first argument.
func (q *request) now() any {
	if q.args.OwnTime {
		return ""
	}
	return q.args.Now
}

// maxBatch bounds the decisions of one script: the server does nothing else meanwhile,
// and Lua's stack does not hold thousands of keys.
const maxBatch = 512

// batch is what one script decides: requests whose keys are in one slot and whose time
// is the same.
type batch struct {
	now      any   // an int64, or "" for the server's
	requests []int // positions in what was asked, in order
}

// decide makes all decisions in one round trip, those on the same key as if they had
// come one after another. errs[i] is why requests[i] has no reply.
func (r *runner) decide(ctx context.Context, requests []request) (replies []store.Reply, errs []error) {
	batches := r.batches(requests)
	calls := make([]call, len(batches))
	for i, b := range batches {
		calls[i] = r.call(b, requests)
	}
	replies, errs = make([]store.Reply, len(requests)), make([]error, len(requests))
	for i, a := range r.store.evaluate(ctx, calls) {
		err := a.err
		numbers, ok := a.value.([]any)
		if err == nil && (!ok || len(numbers) != 4*len(batches[i].requests)) {
			err = fmt.Errorf("%w: not four integers for each decision", store.ErrGarbled)
		}
		for j, at := range batches[i].requests {
			failed := err
			if failed == nil {
				replies[at], failed = decode(numbers[4*j : 4*j+4])
			}
			if failed != nil {
				errs[at] = fmt.Errorf("redis: %s: %w", r.name, failed)
			}
		}
	}
	return replies, errs
}

// batches keeps the order of requests on the same key.
func (r *runner) batches(requests []request) []batch {
	if len(requests) == 1 {
		return []batch{{now: requests[0].now(), requests: []int{0}}}
	}
	var all []batch
	open := map[string]int{}
	for i, q := range requests {
		group := r.store.gather(r.space + q.key)
		now := q.now()
		at, ok := open[group]
		if !ok || all[at].now != now || len(all[at].requests) == maxBatch {
			at = len(all)
			open[group] = at
			all = append(all, batch{now: now})
		}
		all[at].requests = append(all[at].requests, i)
	}
	return all
}

func (r *runner) call(b batch, requests []request) call {
	c := call{script: r.script, args: []any{b.now}}
	for _, at := range b.requests {
		q := &requests[at]
		c.keys = append(c.keys, r.space+q.key)
		c.args = append(c.args, q.args.Cost, len(q.args.Params))
		for _, p := range q.args.Params {
			c.args = append(c.args, p)
		}
	}
	return c
}

// What the driver answers in place of "allowed".
const (
	markCorrupt   = -1
	markWrongType = -2
)

func decode(numbers []any) (store.Reply, error) {
	var n [4]int64
	for i, v := range numbers {
		var ok bool
		if n[i], ok = v.(int64); !ok {
			return store.Reply{}, garbled(v)
		}
	}
	switch n[0] {
	case 0, 1:
	case markCorrupt:
		return store.Reply{}, store.ErrCorrupt
	case markWrongType:
		return store.Reply{}, wrongType{}
	default:
		return store.Reply{}, fmt.Errorf("%w: allowed=%d", store.ErrGarbled, n[0])
	}
	reply := store.Reply{Allowed: n[0] == 1, Remaining: n[1], RetryAfter: n[2], ResetAfter: n[3]}
	if err := reply.Check(); err != nil {
		return store.Reply{}, err
	}
	return reply, nil
}

// wrongType is the server's error for one key among many, as [goredis.Error] has it.
type wrongType struct{}

func (wrongType) Error() string {
	return "WRONGTYPE Operation against a key holding the wrong kind of value"
}

func (wrongType) RedisError() {}
