package weir

// The composite's Lua twin, in front of which stand the layers' own as parts and keyed:
// what both kinds share, and how each reads and writes the states.

const layeredLua = `
-- decide asks every layer what it has left, then lets all take the cost, or those that
-- cannot say when they could. run(i, cost) runs a layer.
local function decide(cost, run)
  local remaining, retry, reset, admitted, cannot = 1000000000, 0, 0, true, {}
  local function combine(left, wait, all)
    remaining, retry, reset = math.min(remaining, left), math.max(retry, wait), math.max(reset, all)
  end
  for i = 1, #parts do
    local allowed, left, wait, all = run(i, 0)
    if allowed == nil then return nil end
    combine(left, wait, all)
    cannot[i] = left < cost
    admitted = admitted and not cannot[i]
  end
  if cost ~= 0 then
    if admitted then remaining, retry, reset = 1000000000, 0, 0 end
    for i = 1, #parts do
      if admitted or cannot[i] then
        local allowed, left, wait, all = run(i, cost)
        if allowed == nil then return nil end
        combine(left, wait, all)
      end
    end
  end
  return admitted and 1 or 0, remaining, retry, reset
end

local function split(p)
  local all, at = {}, 2
  for i = 1, #parts do
    all[i] = {}
    for j = 1, p[at] do all[i][j] = p[at + j] end
    at = at + p[at] + 1
  end
  return all
end

local function unpack_states(value)
  local states, at = {}, 1
  for i = 1, #parts do
    states[i] = false
    if value then
      local n, unit, b = 0, 1, string.byte(value, at)
      while b and b >= 128 and unit < 34359738368 do
        n, unit, at = n + (b - 128) * unit, unit * 128, at + 1
        b = string.byte(value, at)
      end
      if not b or b >= 128 then return nil end
      n, at = n + b * unit, at + 1
      if at + n - 1 > #value then return nil end
      if n > 0 then states[i] = string.sub(value, at, at + n - 1) end
      at = at + n
    end
  end
  if value and at <= #value then return nil end
  return states
end

local function pack_states(states)
  local s = ''
  for i = 1, #parts do
    local state = states[i] or ''
    local n = #state
    while n >= 128 do
      s = s .. string.char(n % 128 + 128)
      n = (n - n % 128) / 128
    end
    s = s .. string.char(n) .. state
  end
  return s
end

-- layers returns what runs a layer on the states, and where it tells what it changed.
local function layers(states, now, own, p, key, px)
  local params, wrote = split(p), {ttl = 0, any = false}
  return function(i, cost)
    if keyed[i] then return parts[i](key .. i, now, own, cost, params[i], px) end
    local next, ttl, allowed, left, wait, all = parts[i](states[i], now, own, cost, params[i])
    if allowed == nil then return nil end
    if next then
      if type(next) == 'number' then next = string.format('%d', next) end
      states[i], wrote.any, wrote.ttl = next, true, math.max(wrote.ttl, ttl)
    end
    return allowed, left, wait, all
  end, wrote
end
`

const layeredValueLua = `
return function(state, now, own, cost, p)
  local states = unpack_states(state)
  if not states then return nil end
  local run, wrote = layers(states, now, own, p)
  local allowed, remaining, retry, reset = decide(cost, run)
  if allowed == nil then return nil end
  local next, ttl = false, 0
  if wrote.any then
    next, ttl = pack_states(states), allowed == 1 and cost > 0 and wrote.ttl or p[1]
  end
  return next, ttl, allowed, remaining, retry, reset
end
`

const layeredKeyedLua = `
return function(key, now, own, cost, p, px)
  local states = unpack_states(redis.call('GET', key))
  if not states then return nil end
  local run, wrote = layers(states, now, own, p, key, px)
  local allowed, remaining, retry, reset = decide(cost, run)
  if allowed == nil then return nil end
  if wrote.any then
    redis.call('SET', key, pack_states(states), 'PX', px(allowed == 1 and cost > 0 and wrote.ttl or p[1]))
  end
  return allowed, remaining, retry, reset
end
`
