package algorithms

import (
	_ "embed"
	"strconv"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// GCRAOptions are the options of [GCRA].
type GCRAOptions struct {
	// Burst is how many requests one instant admits from idle, 1 to 1,000,000,000;
	// after it one more each W/L. Zero means the limit's count.
	Burst int64
}

// GCRA is the generic cell rate algorithm (ITU-T I.371): it keeps one time, the
// theoretical arrival time (TAT), at which the bucket is empty again. With the emission interval
// T = W/L and burst B, a request of cost n at t is admitted if
//
//	max(TAT, t) + n*T <= t + B*T
//
// and then moves TAT to the left side. T is kept as an exact fraction, so a rate that
// does not divide its window does not drift.
//
// It is the token bucket and the leaky bucket. A bucket of B tokens, refilled at one
// per T, with x tokens at t, is full again at t + (B-x)*T: that instant is TAT, so
// x = B - (TAT-t)/T, and "n <= x" is the inequality above. A leaky bucket holds the
// B-x that are missing.
//
// Bound: from t on, a full bucket gives B at once and one more each T; a window
// (t-W, t] that starts with the burst sees those at T, 2T, ... below W = L*T besides: L-1. So L+B-1.
// A bucket of one token loses what refills between the token's instant and the next microsecond, so
// requests keep a distance of T rounded up: with B = 1 as many as that leaves room for in W, at most L.
// Deficit: a denial of cost 1 means that less than one token is left, hence that more than B-1 have been
// taken beyond what was refilled, so at least B were admitted within the last B*T. If B >= L they fill
// the window (its last L were admitted within W); else L-B places can be free.
func GCRA(opts *GCRAOptions) weir.Algorithm {
	if opts == nil {
		opts = &GCRAOptions{}
	}
	return gcra{burst: opts.Burst}
}

type gcra struct{ burst int64 }

//go:embed lua/gcra.lua
var gcraLua string

var gcraStep = &store.Step{Name: "gcra", Func: gcraFunc, Lua: luaBase + luaPut + luaArith + gcraLua, Weight: weight(4)}

// maxBucket is the longest that a bucket may take to refill. Beyond it, times would
// leave what Lua counts exactly.
const maxBucket = 50 * 365 * 24 * time.Hour

func (gcra) Name() string { return "gcra" }

func (g gcra) String() string {
	if g.burst == 0 {
		return "gcra"
	}
	return "gcra,burst=" + strconv.FormatInt(g.burst, 10)
}

func (g gcra) Shape(l weir.Limit) (weir.Shape, error) {
	burst := g.burst
	if burst == 0 {
		burst = l.Count
	}
	if burst < 1 || burst > weir.MaxCount {
		return weir.Shape{}, &weir.FieldError{Field: "burst", Value: strconv.FormatInt(burst, 10), Want: "1 to 1000000000"}
	}
	w := l.Window.Microseconds()
	bucket, rest := mulAddDiv(w, burst, 0, l.Count)
	if bucket > maxBucket.Microseconds() {
		return weir.Shape{}, &weir.FieldError{
			Field: "burst", Value: strconv.FormatInt(burst, 10),
			Want: "one that refills within 50 years: at " + l.String() + " at most " +
				strconv.FormatInt(mostBurst(l), 10),
		}
	}
	most := l.Count + burst - 1
	if burst == 1 {
		most = 1 + (w-1)/ceilDiv(w, l.Count)
	}
	params := []int64{l.Count, w, bucket, rest, w / l.Count, w % l.Count}
	return weir.Shape{
		Format:    "1",
		Capacity:  burst,
		Guarantee: weir.Guarantee{MaxInWindow: most, Deficit: max(0, l.Count-burst)},
		MaxTTL:    store.TTL(bucket + 1 + gcraGrain(w) + store.ClockTolerance),
		Plans: []weir.Plan{
			weir.ScriptPlan(gcraStep, params, 0),
			weir.SwapPlan(gcraStep, params),
		},
	}, nil
}

func mostBurst(l weir.Limit) int64 {
	most, _ := mulAddDiv(maxBucket.Microseconds(), l.Count, 0, l.Window.Microseconds())
	return min(most, weir.MaxCount)
}

// The state is TAT, rounded down to a microsecond (7 bytes), the rest of it in 1/L of
// a microsecond (4 bytes), and that L (4 bytes).
const gcraState = 15

// A span is a time in microseconds and, below that, in 1/L of one.
type span struct{ us, part int64 }

func (s span) atMost(o span) bool { return s.us < o.us || s.us == o.us && s.part <= o.part }

// minus is s - o in 1/l, for o at most s.
func (s span) minus(o span, l int64) span {
	d := span{s.us - o.us, s.part - o.part}
	if d.part < 0 {
		d.us, d.part = d.us-1, d.part+l
	}
	return d
}

func (s span) plus(o span, l int64) span {
	d := span{s.us + o.us, s.part + o.part}
	if d.part >= l {
		d.us, d.part = d.us+1, d.part-l
	}
	return d
}

// up rounds up to whole microseconds.
func (s span) up() int64 {
	if s.part > 0 {
		return s.us + 1
	}
	return s.us
}

func gcraFunc(state []byte, a store.Args) (res store.Result) {
	p := a.Params
	limit, window := p[0], p[1]
	bucket, emission := span{p[2], p[3]}, span{p[4], p[5]}
	var ahead span // how far TAT is ahead of now: what has been taken and not refilled
	moved := false // to be written even if denied, or the answer would not come true
	if len(state) != 0 {
		if len(state) != gcraState {
			return corrupt
		}
		tat, part, wrote := get56(state), get32(state[7:]), get32(state[11:])
		if tat > maxTime || wrote < 1 || wrote > weir.MaxCount || part >= wrote {
			return corrupt
		}
		if tat >= a.Now {
			ahead = span{tat - a.Now, part}
			if wrote != limit { // another limit wrote it: what was taken counts as before
				moved = true
				ahead.us, ahead.part = mulAddDiv(ahead.us, wrote, part, limit)
				if !ahead.atMost(bucket) {
					ahead = bucket
				}
			}
			if a.OwnTime && ahead.us > bucket.us+store.ClockTolerance {
				ahead, moved = bucket, true // the clock was set back
			}
		}
	}
	cost := emission
	if a.Cost != 1 {
		cost.us, cost.part = mulAddDiv(window, max(a.Cost, -a.Cost), 0, limit)
	}
	var after span
	switch {
	case a.Cost >= 0:
		after = ahead.plus(cost, limit)
	case cost.atMost(ahead): // given back
		after = ahead.minus(cost, limit)
	}
	allowed := a.Cost <= 0 || after.atMost(bucket)
	write := a.Cost > 0 && allowed || a.Cost < 0 && ahead != after || a.Cost != 0 && moved
	res.Reply.Allowed = allowed
	if allowed {
		ahead = after
	} else {
		res.Reply.RetryAfter = after.minus(bucket, limit).up()
	}
	if ahead.atMost(bucket) {
		free := bucket.minus(ahead, limit)
		res.Reply.Remaining, _ = mulAddDiv(free.us, limit, free.part, window)
	}
	res.Reply.ResetAfter = ahead.up()
	if write {
		res.State = sized(state, gcraState)
		put56(res.State, a.Now+ahead.us)
		put32(res.State[7:], ahead.part)
		put32(res.State[11:], limit)
		if a.OwnTime {
			res.TTL = gcraExpiry(a.Now+ahead.us, window) - a.Now
		} else {
			res.TTL = max(min(ahead.up(), bucket.up()), 1)
		}
	}
	return res
}

// gcraExpiry is when the key of a TAT ends where one clock rules: at the next multiple of the grain. So most
// writes need not set the TTL anew, and a client that comes again soon finds its key.
func gcraExpiry(tat, window int64) int64 {
	grain := gcraGrain(window)
	return tat - tat%grain + grain
}

func gcraGrain(window int64) int64 { return window/16 + 1 }
