package redis

import (
	"context"
	"slices"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// maxBatch bounds the decisions of one script: Lua's stack does not hold thousands of keys.
const maxBatch = 512

// group says which requests one script can decide: those of one step whose keys are in
// one place and whose time is the same.
type group struct {
	script *script
	place  place
	own    bool
	now    int64
}

// call is one run of a step's script.
type call struct {
	group group
	heads []*request // the first on each key, in order of arrival
	size  int
	end   int // of its arguments among the trip's
	again bool
}

func (c *call) fail(err error) {
	for _, first := range c.heads {
		for q := first; q != nil; q = q.next {
			q.fail(err)
		}
	}
}

// trip is what goes to the server at once. Its slices are used again.
type trip struct {
	calls   []call
	args    []any
	cmds    []goredis.Cmder
	results []*goredis.IntSliceCmd

	open  map[group]int       // the call that has room
	heads map[string]*request // the first request on each key, in the newest call that has it
}

// onceInts is [once] for a reply of integers, which the client reads without boxing them.
type onceInts struct{ *goredis.IntSliceCmd }

func newInts(ctx context.Context, args []any) onceInts {
	cmd := goredis.NewIntSliceCmd(ctx, args...)
	cmd.SetStepCount(keyStep)
	return onceInts{cmd}
}

func (onceInts) NoRetry() bool { return true }

var trips = sync.Pool{New: func() any {
	return &trip{open: map[group]int{}, heads: map[string]*request{}}
}}

// newTrip readies the requests' commands.
func (s *Store) newTrip(ctx context.Context, requests []*request) *trip {
	t := trips.Get().(*trip)
	if len(requests) == 1 {
		q := requests[0]
		t.begin(s.groupOf(q)).add(q)
	} else {
		t.sort(s, requests)
	}
	for i := range t.calls {
		t.args = t.calls[i].arguments(t.args)
		t.calls[i].end = len(t.args)
	}
	from := 0
	for _, c := range t.calls {
		cmd := newInts(ctx, t.args[from:c.end:c.end])
		from = c.end
		t.results = append(t.results, cmd.IntSliceCmd)
		t.cmds = append(t.cmds, cmd)
	}
	return t
}

func (s *Store) groupOf(q *request) group {
	g := group{script: q.runner.script, place: s.place(q.key), own: q.args.OwnTime}
	if !g.own {
		g.now = q.args.Now
	}
	return g
}

// begin opens a call.
func (t *trip) begin(g group) *call {
	n := len(t.calls)
	t.calls = slices.Grow(t.calls, 1)[:n+1] // with what is left of a call before
	c := &t.calls[n]
	*c = call{group: g, heads: c.heads[:0]}
	return c
}

func (c *call) add(q *request) {
	q.last = q
	c.heads = append(c.heads, q)
	c.size++
}

// sort puts requests into calls, and keeps the order of those on the same key.
func (t *trip) sort(s *Store, requests []*request) {
	var before group
	at := -1
	for _, q := range requests {
		if g := s.groupOf(q); at < 0 || g != before || t.calls[at].size == maxBatch {
			i, ok := t.open[g]
			if !ok || t.calls[i].size == maxBatch {
				i = len(t.calls)
				t.begin(g)
				t.open[g] = i
			}
			at, before = i, g
		}
		c := &t.calls[at]
		if first := t.heads[q.key]; first != nil && first.call == at {
			first.last.next = q
			first.last = q
			c.size++
			continue
		} else if first != nil && first.call > at { // after its earlier ones, so in a call of its own
			at = len(t.calls)
			c = t.begin(before)
			t.open[before] = at
		}
		q.call = at
		t.heads[q.key] = q
		c.add(q)
	}
}

// arguments appends a command's. See lua/driver.lua.
func (c *call) arguments(args []any) []any {
	args = append(args, "evalsha", &c.group.script.hash, len(c.heads))
	for _, q := range c.heads {
		args = append(args, &q.key)
	}
	if c.group.own {
		args = append(args, "")
	} else {
		args = append(args, c.group.now)
	}
	var r runs
	for _, first := range c.heads {
		args = r.add(args, first)
	}
	return r.end(args)
}

// runs writes requests that ask the same of consecutive keys once.
type runs struct {
	keys, each int // each of so many keys is asked so often
	cost       int64
	params     []int64
	written    []int64
	begun      bool
}

// add appends what is asked of one key.
func (r *runs) add(args []any, first *request) []any {
	keys := 1
	for q := first; q != nil; keys = 0 {
		n, from := 1, q
		for q = q.next; q != nil && q.args.Cost == from.args.Cost && same(q.args.Params, from.args.Params); q = q.next {
			n++
		}
		if keys == 1 && r.keys > 0 && r.each == n && r.cost == from.args.Cost && same(r.params, from.args.Params) {
			r.keys++
			continue
		}
		args = r.end(args)
		r.keys, r.each, r.cost, r.params = keys, n, from.args.Cost, from.args.Params
	}
	return args
}

// end appends the run. Parameters are not repeated.
func (r *runs) end(args []any) []any {
	if r.each == 0 {
		return args
	}
	args = append(args, r.keys, r.each, r.cost)
	if r.begun && same(r.params, r.written) {
		return append(args, "")
	}
	r.begun, r.written = true, r.params
	args = append(args, len(r.params))
	for i := range r.params {
		args = append(args, &r.params[i])
	}
	return args
}

func same(a, b []int64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// unknown readies once more, with the source, the calls whose script the server does
// not know, and so did not run.
func (t *trip) unknown(ctx context.Context) []goredis.Cmder {
	var again []goredis.Cmder
	for i, cmd := range t.results {
		if err := cmd.Err(); err != nil && goredis.HasErrorPrefix(err, "NOSCRIPT") {
			args := cmd.Args()
			args[0], args[1] = "eval", &t.calls[i].group.script.source
			whole := newInts(ctx, args)
			t.results[i] = whole.IntSliceCmd
			again = append(again, whole)
			t.calls[i].again = true
		}
	}
	return again
}

// free gives the trip back, once nobody reads its commands any more.
func (t *trip) free() {
	for i := range t.calls {
		clear(t.calls[i].heads)
		t.calls[i].group = group{}
	}
	clear(t.args)
	clear(t.cmds)
	clear(t.results)
	clear(t.open)
	clear(t.heads)
	t.calls, t.args, t.cmds, t.results = t.calls[:0], t.args[:0], t.cmds[:0], t.results[:0]
	trips.Put(t)
}
