package algorithms

import (
	_ "embed"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// RingLogOptions are the options of [RingLog].
type RingLogOptions struct {
	// CountDenied logs denied requests too, so that a client that does not pause for
	// a whole window stays denied.
	CountDenied bool
}

// RingLog keeps the times of the last L admitted requests, the newest first, and
// admits n if the one that would drop off the end, the (L-n+1)-th newest, has left
// the window. On Redis the ring is a list, cut in one script; in this process it is
// the same ring of times as [SlidingLog]'s. A cost of n is n entries, so one request
// costs at most 1,000.
//
// Bound: more than L-n in (t-W, t] is the same as "the (L-n+1)-th newest is still
// in it", so it decides as the sliding log does: at most L, deficit 0. Only what has
// expired is ever cut off, also when the limit is raised later.
//
// With CountDenied the ring holds denied requests too. At most L is admitted all the
// same; the deficit grows to L, since the admitted may be long gone while the denied
// keep the ring full.
func RingLog(opts *RingLogOptions) weir.Algorithm {
	if opts == nil {
		opts = &RingLogOptions{}
	}
	return ringLog{countDenied: opts.CountDenied}
}

type ringLog struct{ countDenied bool }

//go:embed lua/ring_log.lua
var ringLogLua string

//go:embed lua/log.lua
var luaLog string

var ringLogStep = &store.Step{
	Name: "ring_log", Func: logFunc, Lua: luaBase + luaLog + ringLogLua, Keyed: true, Weight: logWeight,
}

func (ringLog) Name() string { return "ring-log" }

func (r ringLog) String() string {
	if r.countDenied {
		return "ring-log,denied=count"
	}
	return "ring-log"
}

func (r ringLog) Shape(l weir.Limit) (weir.Shape, error) {
	return logShape(l, ringLogStep, store.CapList, r.countDenied), nil
}
