package algorithms

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// PackedLogOptions are the options of [PackedLog].
type PackedLogOptions struct {
	// Tick is the grain in which times are kept, whole microseconds from 1 up to the
	// window. Zero means the largest of 1, 2, 5 x 10^k microseconds that is not above
	// W/65536. A tick of 1us is exact to the clock.
	Tick time.Duration
	// Block keeps one time per so many admitted requests: 1 to the limit. Zero means 1,
	// an exact log.
	Block int64
	// Error sets Block, whatever the limit, from the share of the limit that may be denied too early, above 0
	// and at most 0.5. At most one of Block and Error may be set.
	Error float64
}

// PackedLog is the log of the last L admitted requests in one value: the differences
// between their times in ticks, coded in as few bytes as they need, and equal times as
// one with a count. It takes a byte or two per request where a sorted set takes a
// hundred, and needs no more than a script or compare-and-swap.
//
// Bound: times are rounded up to ticks, so a request leaves the log up to one tick
// later than the window, never earlier: the log's count is never below the true one,
// and at most L are admitted in any window. A denial is therefore too early by less
// than a tick, a microsecond less at most; with a tick of 1us it never is.
//
// With blocks of b, only the newest time of each b consecutive requests is kept, and
// all b count until it has left the window. The count lies between the true one and
// the true one + b-1, since only the oldest block can be partly gone: still at most L
// in any window, and a denial too early only where fewer than b places are free. Memory is
// set by the error that is accepted, not by the limit.
func PackedLog(opts *PackedLogOptions) weir.Algorithm {
	if opts == nil {
		opts = &PackedLogOptions{}
	}
	return packedLog{*opts}
}

type packedLog struct{ o PackedLogOptions }

//go:embed lua/packed_log.lua
var packedLogLua string

var packedLogStep = &store.Step{
	Name: "packed_log", Func: packedLogFunc, Lua: luaBase + luaGet + luaPut + packedLogLua, Keyed: true,
	Weight: weight(15),
}

var packedOptions = []Option{
	{Name: "tick", Want: "a duration in whole microseconds, from 1us to the window"},
	{Name: "block", Want: "1 to the limit"},
	{Name: "error", Want: "above 0% and at most 50%"},
}

func parsePackedLog(values map[string]string) (weir.Algorithm, error) {
	var o PackedLogOptions
	for name, v := range values {
		var err error
		wrong := false
		switch name {
		case "tick":
			o.Tick, err = time.ParseDuration(v)
			wrong = o.Tick < time.Microsecond
		case "block":
			o.Block, err = strconv.ParseInt(v, 10, 64)
			wrong = o.Block < 1 || o.Block > weir.MaxCount
		case "error":
			number, percent := strings.CutSuffix(v, "%")
			o.Error, err = strconv.ParseFloat(number, 64)
			o.Error /= 100
			wrong = !percent || !(o.Error > 0 && o.Error <= 0.5)
		}
		if err != nil || wrong {
			i := slices.IndexFunc(packedOptions, func(o Option) bool { return o.Name == name })
			return nil, &weir.FieldError{Field: "packed-log " + name, Value: strconv.Quote(v), Want: packedOptions[i].Want}
		}
	}
	if o.Block != 0 && o.Error != 0 {
		return nil, &weir.FieldError{Field: "packed-log error", Value: strconv.Quote(values["error"]), Want: "either block or error"}
	}
	return PackedLog(&o), nil
}

func (packedLog) Name() string { return "packed-log" }

func (p packedLog) String() string {
	s := "packed-log"
	if p.o.Tick != 0 {
		s += ",tick=" + strings.Replace(p.o.Tick.String(), "µ", "u", 1)
	}
	if p.o.Block != 0 {
		s += ",block=" + strconv.FormatInt(p.o.Block, 10)
	}
	if p.o.Error != 0 {
		s += ",error=" + strconv.FormatFloat(p.o.Error*100, 'g', -1, 64) + "%"
	}
	return s
}

func (p packedLog) Shape(l weir.Limit) (weir.Shape, error) {
	tick, block, err := p.grain(l)
	if err != nil {
		return weir.Shape{}, err
	}
	w := l.Window.Microseconds()
	g := weir.Guarantee{MaxInWindow: l.Count, Deficit: block - 1}
	if tick > 1 {
		g.Deficit, g.DeficitFor = l.Count, time.Duration(tick-1)*time.Microsecond
		if block > 1 {
			g.DeficitFor = 0 // the b-1 last longer
		}
	}
	params := []int64{l.Count, w, tick, block}
	return weir.Shape{
		Format:    fmt.Sprintf("1,%d", tick),
		Capacity:  l.Count,
		Guarantee: g,
		MaxTTL:    store.TTL(w + tick + margin(w)),
		MaxState:  packedMost(l.Count, w, tick, block),
		Plans: []weir.Plan{
			weir.ScriptPlan(packedLogStep, params, 0),
			weir.SwapPlan(packedLogStep, params),
		},
	}, nil
}

// grain is the tick, in microseconds, and the block under a limit.
func (p packedLog) grain(l weir.Limit) (tick, block int64, err error) {
	tick, block = p.o.Tick.Microseconds(), max(p.o.Block, 1)
	switch {
	case p.o.Tick == 0:
		tick = autoTick(l.Window.Microseconds())
	case p.o.Tick < time.Microsecond || p.o.Tick%time.Microsecond != 0 || p.o.Tick > l.Window:
		return 0, 0, &weir.FieldError{Field: "packed-log tick", Value: p.o.Tick.String(), Want: "whole microseconds, from 1us to the window"}
	}
	if p.o.Block < 0 || block > l.Count {
		return 0, 0, &weir.FieldError{
			Field: "packed-log block", Value: strconv.FormatInt(p.o.Block, 10),
			Want: fmt.Sprintf("1 to the limit, %d", l.Count),
		}
	}
	if p.o.Error != 0 {
		if p.o.Block != 0 {
			return 0, 0, &weir.FieldError{Field: "packed-log error", Value: p.String(), Want: "either block or error"}
		}
		if !(p.o.Error > 0 && p.o.Error <= 0.5) {
			return 0, 0, &weir.FieldError{
				Field: "packed-log error", Value: strconv.FormatFloat(p.o.Error*100, 'g', -1, 64) + "%",
				Want: "above 0% and at most 50%",
			}
		}
		block = max(1, int64(p.o.Error*float64(l.Count)))
	}
	return tick, block, nil
}

// autoTick is the largest of 1, 2, 5 x 10^k that is not above window/65536, and at
// least 1: whole seconds and milliseconds stay exact.
func autoTick(window int64) int64 {
	tick := int64(1)
	for unit := int64(1); unit <= window/65536; unit *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if m*unit <= window/65536 {
				tick = m * unit
			}
		}
	}
	return tick
}

// packedMost bounds the bytes of a log: one for each entry, further ones for
// differences of 128 ticks and more, of which few fit into a window, and the counts of
// equal times.
func packedMost(limit, window, tick, block int64) int {
	ticks := window/tick + 2
	blocks := limit/block + 1
	entries := min(blocks, ticks)
	most := entries
	for span := int64(128); span <= ticks; span *= 128 {
		most += min(entries, ticks/span)
	}
	if counted := min(entries, blocks/2); counted > 0 {
		most += counted * int64(1+varintLen(blocks/counted))
	}
	segments := most/packedSegment + 1
	return int(most+segments*(packedMark+2*maxVarint)) + packedHeader + packedGrowth(int(most))
}

func packedLogFunc(state []byte, a store.Args) store.Result {
	limit, window, tick, block := a.Params[0], a.Params[1], a.Params[2], a.Params[3]
	var log packed
	if !log.parse(state, block, maxTime/tick) {
		return corrupt
	}
	at := ceilDiv(a.Now, tick)
	moved := false
	now := a.Now
	if newest := log.newest(); newest > 0 {
		// The earliest instant that the newest time can stand for.
		switch earliest := (newest-1)*tick + 1; {
		case a.OwnTime && earliest > a.Now+store.ClockTolerance:
			log.shift(newest-at, at) // the clock was set back: the log moves with it
			moved = true
		default: // the later time counts
			at, now = max(at, newest), max(now, earliest)
		}
	}
	if !log.expire(floorDiv(now-window, tick)) {
		return corrupt
	}
	if log.block != block {
		log.regroup(block)
		moved = true
	}
	live := log.count()
	if live < 0 {
		return corrupt // marks that nobody wrote
	}
	allowed := a.Cost <= 0 || live+a.Cost <= limit
	back := min(-a.Cost, live)
	res := store.Result{Reply: store.Reply{Allowed: allowed}}
	if !allowed {
		leaves := log.leaves(live + a.Cost - limit)
		res.Reply.RetryAfter = leaves*tick + window - a.Now
	} else if a.Cost > 0 {
		log.push(at, a.Cost)
		live += a.Cost
	}
	if back > 0 {
		if !log.giveBack(back) {
			return corrupt
		}
		live = log.count()
	}
	res.Reply.Remaining = max(limit-live, 0)
	if live > 0 {
		res.Reply.ResetAfter = log.newest()*tick + window - a.Now
	}
	if a.Cost > 0 && allowed || back > 0 || a.Cost != 0 && moved {
		res.State = log.save()
		res.TTL = window + tick + margin(window)
	}
	return res
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}
