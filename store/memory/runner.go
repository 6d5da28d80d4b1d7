package memory

import (
	"context"
	"math"
	"unsafe"

	"github.com/weirlimits/weir/store"
)

// runner is a prepared step.
type runner struct {
	core  *core
	table *table
	step  store.Func
	store *Store // kept reachable, and so the sweeper alive
}

// Run implements [store.Runner].
func (r *runner) Run(ctx context.Context, key string, args store.Args) (store.Reply, error) {
	if err := r.core.usable(ctx); err != nil {
		return store.Reply{}, err
	}
	for {
		reply, err := r.decide(key, args)
		if err != store.ErrFull || !r.core.makeRoom(r.table, args) {
			return reply, err
		}
	}
}

// decide runs the step under the shard's lock, which a step that panics does not keep.
func (r *runner) decide(key string, args store.Args) (store.Reply, error) {
	now := r.core.now()
	hash := r.table.hash(key)
	sh := r.table.shard(hash)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now = r.core.inOrder(sh, now)
	floor := int64(0)
	if args.OwnTime {
		args.Now = now
	} else {
		floor = store.HousekeepingTTL.Microseconds()
	}
	p, rec := sh.find(hash, key)
	var state []byte
	switch {
	case p == none:
		state = sh.scratch[:0]
	case rec.kind() == kindValue && rec.expires() > now:
		state = rec.state()
	case rec.expires() <= now:
		state = sh.value(rec)[:0]
	default:
		if sh.kindOf(rec) != kindValue {
			return store.Reply{}, errKind
		}
		state = sh.value(rec)
	}
	res := r.step(state, args)
	switch {
	case res.Corrupt:
		return store.Reply{}, store.ErrCorrupt
	case res.State == nil:
		return res.Reply, nil
	}
	expires := now + max(res.TTL, floor)
	if p != none && rec.kind() == kindValue && len(res.State) <= inlineMost &&
		unsafe.SliceData(res.State) == unsafe.SliceData(state) { // as with all states of fixed size
		rec.setStateLen(len(res.State))
		rec.setExpires(expires)
		return res.Reply, nil
	}
	if p == none && r.core.maxKeys != math.MaxInt64 {
		sh.ask(args)
	}
	if !sh.put(hash, key, p, kindValue, res.State, expires, now) {
		return store.Reply{}, store.ErrFull
	}
	return res.Reply, nil
}
