package store

import (
	"fmt"
	"time"
)

// Step is one atomic read-modify-write on one key, written twice: in Go and in Lua.
// The twins do exactly the same. Each maps (state, arguments) to (next state or
// "unchanged", TTL, reply), without a clock, I/O or chance; the store supplies
// atomicity, time, expiry and transport. Times are whole microseconds since the
// Unix epoch, below 2^53.
type Step struct {
	// Name is a Lua identifier, unique among the steps of a program.
	Name string

	// Func is the Go twin.
	Func Func

	// Lua is the source of the Lua twin: a chunk that returns a function. It runs
	// where Lua 5.1 runs inside Redis, so it uses no float, no tostring on numbers,
	// and no library but string and math. If Keyed is false the function is
	//
	//	function(state, now, own, cost, p) -> next, ttl, allowed, remaining, retry, reset, keep
	//
	// state and next are strings; a missing state and "unchanged" are false; an
	// unrecognised state is answered by a single nil. A whole number stands for its decimal
	// digits, as next and, within a batch, as state. allowed is 0 or 1, p the table
	// of parameters, read only. keep, which may be left out, says that under own the TTL that
	// the key has ends no earlier than ttl.
	//
	// If Keyed is true the state is a data structure that the function reads and
	// writes itself through redis.call, on that key alone:
	//
	//	function(key, now, own, cost, p, px) -> allowed, remaining, retry, reset
	//
	// px turns a TTL in microseconds into the argument of PEXPIRE, in digits. On every write the
	// function sets the key's TTL.
	Lua   string
	Keyed bool

	// Weight estimates how many microseconds a decision takes at the server, so that
	// batches can be bounded by their cost. Nil stands for a small constant.
	Weight func(args Args) int
}

// Func is the Go twin of a step. It owns state during the call: it may write into
// it and return a slice of it, but must leave it untouched where it returns no next
// state. A missing state has length zero. It must not keep a reference to state or
// to args.Params.
type Func func(state []byte, args Args) Result

// Args are the arguments of one run.
type Args struct {
	Now     int64   // microseconds since the Unix epoch
	OwnTime bool    // one clock rules, the store's: it sets Now. If not, the caller brought Now
	Cost    int64   // requests asked for at once; 0 peeks; below 0 the newest so many are given back
	Params  []int64 // the algorithm's parameters, constant per limiter, read only
}

// HousekeepingTTL is the least TTL of a key whose caller brings the time: the store
// expires it in real time, which need not be the caller's.
const HousekeepingTTL = time.Hour

// ClockTolerance, in microseconds, is how much further ahead than it can honestly be
// a stored time must lie before a step concludes, under OwnTime, that the one clock
// was set back.
const ClockTolerance = 1_000_000

// Result is what a step's function returns.
type Result struct {
	State   []byte // the next state; nil leaves the key as it is
	TTL     int64  // how long the next state must live at least, in microseconds
	Corrupt bool   // the state is not one that this step wrote; the rest is void
	Reply   Reply
}

// Reply is what a step tells the caller. Durations are microseconds.
type Reply struct {
	Allowed    bool
	Remaining  int64 // how much could be taken now, after this decision
	RetryAfter int64 // when the same cost would be admitted; 0 where allowed
	ResetAfter int64 // when the state will be as if never used
}

// Check returns [ErrGarbled] where no step can have given this reply: what a broken
// server or a foreign script answers must not pass as a decision.
func (r Reply) Check() error {
	if r.Remaining < 0 || r.ResetAfter < 0 || r.RetryAfter < 0 || r.Allowed != (r.RetryAfter == 0) {
		return r.garbled()
	}
	return nil
}

func (r Reply) garbled() error {
	return fmt.Errorf("%w: allowed=%t remaining=%d retry=%d reset=%d",
		ErrGarbled, r.Allowed, r.Remaining, r.RetryAfter, r.ResetAfter)
}
