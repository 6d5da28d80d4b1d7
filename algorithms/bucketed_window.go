package algorithms

import (
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// BucketedWindowOptions are the options of [BucketedWindow].
type BucketedWindowOptions struct {
	// Buckets is how many sub-windows a window has, 1 to 1,000 and at most one for each
	// microsecond. Zero means 60.
	Buckets int64
}

// BucketedWindow counts in sub-windows of W/K, rounded up to a microsecond and aligned
// to the epoch, and admits n if the counts of the running one and of the K before it
// leave room. All lie in one value.
//
// Bound: those K+1 sub-windows cover the last W wherever in the running one t is, so
// the sum is never below the true count: at most L in any window. It is above by what
// the oldest sub-windows still hold of requests that have left the window. A request
// counts until K sub-windows have gone by since the end of its own: at most K+1 of
// them, so a denial is too early by at most K+1 sub-windows less W. That is W/K where K
// divides the window, and below twice a sub-window elsewhere; there the rounded width
// may need fewer sub-windows, and no more are kept.
func BucketedWindow(opts *BucketedWindowOptions) weir.Algorithm {
	if opts == nil {
		opts = &BucketedWindowOptions{}
	}
	return bucketedWindow{buckets: opts.Buckets}
}

type bucketedWindow struct{ buckets int64 }

//go:embed lua/bucketed_window.lua
var bucketedWindowLua string

var bucketedWindowStep = &store.Step{
	Name: "bucketed_window", Func: bucketedWindowFunc, Lua: luaBase + luaGet + luaPut + bucketedWindowLua,
	Weight: func(a store.Args) int { return 4 + int(a.Params[2])/8 },
}

const (
	defaultBuckets = 60
	mostBuckets    = 1000
)

var bucketsOption = Option{Name: "buckets", Want: "1 to 1000"}

func parseBucketedWindow(values map[string]string) (weir.Algorithm, error) {
	var o BucketedWindowOptions
	if v, ok := values["buckets"]; ok {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 1 || n > mostBuckets {
			return nil, &weir.FieldError{Field: "bucketed-window buckets", Value: strconv.Quote(v), Want: bucketsOption.Want}
		}
		o.Buckets = n
	}
	return BucketedWindow(&o), nil
}

func (bucketedWindow) Name() string { return "bucketed-window" }

func (b bucketedWindow) String() string {
	if b.buckets == 0 {
		return "bucketed-window"
	}
	return "bucketed-window,buckets=" + strconv.FormatInt(b.buckets, 10)
}

func (b bucketedWindow) Shape(l weir.Limit) (weir.Shape, error) {
	buckets, w := b.buckets, l.Window.Microseconds()
	if buckets == 0 {
		buckets = defaultBuckets
	}
	if buckets < 1 || buckets > min(mostBuckets, w) {
		return weir.Shape{}, &weir.FieldError{
			Field: "bucketed-window buckets", Value: strconv.FormatInt(buckets, 10),
			Want: fmt.Sprintf("1 to %d", min(mostBuckets, w)),
		}
	}
	sub := ceilDiv(w, buckets)
	buckets = ceilDiv(w, sub) // fewer of them cover the window where the width was rounded up
	params := []int64{l.Count, sub, buckets}
	return weir.Shape{
		Format:   fmt.Sprintf("1,%d", buckets),
		Capacity: l.Count,
		Guarantee: weir.Guarantee{
			MaxInWindow: l.Count, Deficit: l.Count, DeficitFor: time.Duration((buckets+1)*sub-w) * time.Microsecond,
		},
		MaxTTL: store.TTL((buckets + 1) * sub),
		Plans: []weir.Plan{
			weir.ScriptPlan(bucketedWindowStep, params, 0),
			weir.SwapPlan(bucketedWindowStep, params),
		},
	}, nil
}

// The state is the index of the newest sub-window that counts (6 bytes), and the varints
// of the counts from that one backwards.
const bucketedHeader = 6

func bucketedWindowFunc(state []byte, a store.Args) store.Result {
	limit, sub, buckets := a.Params[0], a.Params[1], a.Params[2]
	index := a.Now / sub
	age, setBack := int64(0), false // how far the state's newest is behind
	if len(state) != 0 {
		if len(state) <= bucketedHeader {
			return corrupt
		}
		switch newest := get48(state); {
		case newest > maxTime/sub:
			return corrupt
		case newest <= index:
			age = index - newest
		case a.OwnTime && newest*sub > a.Now+store.ClockTolerance:
			setBack = true // the clock was set back: the counts move with it
		default:
			index = newest // a clock ahead of ours: the later counts
		}
	}
	// live counts; newestCounted and leaves are the newest sub-window that counts any,
	// and the newest that must go before the cost fits, each by how old it is.
	var live, first int64
	newestCounted, leaves := int64(-1), int64(-1)
	end, second := bucketedHeader, bucketedHeader
	for k := age; end < len(state) && k <= buckets; k++ {
		n, next := varint(state, end)
		if next == 0 || n > weir.MaxCount {
			return corrupt
		}
		if k == 0 {
			first, second = n, next
		}
		live, end = live+n, next
		if n > 0 && newestCounted < 0 {
			newestCounted = k
		}
		if leaves < 0 && live > limit-a.Cost {
			leaves = k
		}
	}
	if a.Cost < 0 {
		return bucketedGiveBack(state, a, index, age, setBack, end)
	}
	allowed := a.Cost == 0 || live+a.Cost <= limit
	opens := func(k int64) int64 { return (index-k+buckets+1)*sub - a.Now }
	res := store.Result{Reply: store.Reply{Allowed: allowed}}
	if !allowed {
		res.Reply.RetryAfter = opens(leaves)
	} else if a.Cost > 0 {
		first, newestCounted, live = first+a.Cost, 0, live+a.Cost
	}
	res.Reply.Remaining = max(limit-live, 0)
	if newestCounted >= 0 {
		res.Reply.ResetAfter = opens(newestCounted)
	}
	if a.Cost > 0 && (allowed || setBack) {
		gap := 0
		if age > 0 {
			gap = int(min(age-1, buckets))
		}
		rest := end - second
		if age > buckets {
			gap, rest = 0, 0
		}
		at := bucketedHeader + varintLen(first) + gap
		next := sized(state, at+rest)
		if rest > 0 {
			copy(next[at:], state[second:end]) // may overlap
		}
		put48(next, index)
		clear(appendVarint(next[:bucketedHeader], first)[at-gap : at])
		res.State = next
		res.TTL = min(opens(newestCounted), (buckets+1)*sub)
	}
	return res
}

// bucketedGiveBack takes -cost from the newest counts, and then peeks.
func bucketedGiveBack(state []byte, a store.Args, index, age int64, setBack bool, end int) store.Result {
	back := -a.Cost
	var next []byte
	changed := setBack
	for i := bucketedHeader; i < end; {
		n, after := varint(state, i)
		taken := min(n, back)
		changed = changed || taken > 0
		next, back, i = appendVarint(next, n-taken), back-taken, after
	}
	var whole []byte
	if len(next) > 0 {
		whole = append(make([]byte, bucketedHeader, bucketedHeader+len(next)), next...)
		put48(whole, index-age)
		if setBack {
			put48(whole, index)
		}
	}
	a.Cost = 0
	res := bucketedWindowFunc(whole, a)
	if changed && whole != nil {
		sub, buckets := a.Params[1], a.Params[2]
		res.State, res.TTL = whole, min(max(res.Reply.ResetAfter, 1), (buckets+1)*sub)
	}
	return res
}
