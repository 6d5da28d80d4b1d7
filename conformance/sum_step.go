package conformance

import (
	"strconv"
	"time"

	"github.com/weirlimits/weir/store"
)

// sumStep is the step by which scripts are checked: it adds the cost to a total and
// answers the total as what remains, and the time that it was given as the reset. Its
// parameters are the TTL and whether to answer, in place of the total, who brought the
// time, and write nothing.
var sumStep = &store.Step{Name: "conformance_sum", Func: sumFunc, Lua: sumLua}

// keyedSumStep does the same, but its Lua twin reads and writes the key itself.
var keyedSumStep = &store.Step{Name: "conformance_keyed_sum", Func: sumFunc, Lua: keyedSumLua, Keyed: true}

func sumArgs(cost int64, ttl time.Duration) store.Args {
	return store.Args{OwnTime: true, Cost: cost, Params: []int64{ttl.Microseconds(), 0}}
}

func sumFunc(state []byte, a store.Args) store.Result {
	total := int64(0)
	if len(state) > 0 {
		n, err := strconv.ParseUint(string(state[1:]), 10, 53)
		if state[0] != 's' || err != nil {
			return store.Result{Corrupt: true}
		}
		total = int64(n)
	}
	r := store.Result{Reply: store.Reply{Allowed: true, Remaining: total, ResetAfter: a.Now}}
	switch {
	case a.Params[1] == 1:
		r.Reply.Remaining = 0
		if a.OwnTime {
			r.Reply.Remaining = 1
		}
	case a.Cost != 0:
		r.Reply.Remaining = max(total+a.Cost, 0)
		r.State, r.TTL = strconv.AppendInt([]byte("s"), r.Reply.Remaining, 10), a.Params[0]
	}
	return r
}

const sumLuaDecide = `
local function decide(state, now, own, cost, p)
  local total = 0
  if state then
    local digits = string.match(state, '^s(%d+)$')
    if not digits then return nil end
    total = tonumber(digits)
  end
  if p[2] == 1 then return false, 0, 1, own and 1 or 0, 0, now end
  if cost == 0 then return false, 0, 1, total, 0, now end
  total = math.max(total + cost, 0)
  return 's' .. string.format('%.0f', total), p[1], 1, total, 0, now
end
`

const sumLua = sumLuaDecide + `return decide`

const keyedSumLua = sumLuaDecide + `
return function(key, now, own, cost, p, px)
  local state, ttl, allowed, remaining, retry, reset = decide(redis.call('GET', key), now, own, cost, p)
  if state then redis.call('SET', key, state, 'PX', px(ttl)) end
  return allowed, remaining, retry, reset
end
`
