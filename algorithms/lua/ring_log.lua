-- ring-log: a list of times in microseconds, the newest first.
local CHUNK = 500

local function push(command, key, values)
  local i = 1
  while i <= #values do
    redis.call(command, key, unpack(values, i, math.min(i + CHUNK - 1, #values)))
    i = i + CHUNK
  end
end

return function(key, now, own, cost, p, px)
  local limit, window, count_denied = p[1], p[2], p[3] == 1
  local length = redis.call('LLEN', key)
  local function time(i)
    return tonumber(redis.call('LINDEX', key, i))
  end
  local newest = length > 0 and time('0')
  if newest == nil or newest and foreign(newest) then return nil end
  local at, shift = placed(newest, now, own)
  local floor = at + shift - window
  local live = length
  if length > 0 and (time('-1') or 0) <= floor then
    local low, high = 0, length - 1 -- the element at high has expired
    while low < high do
      local middle = math.floor((low + high) / 2)
      if (time(middle) or 0) <= floor then high = middle else low = middle + 1 end
    end
    live = low
  end
  local allowed = cost <= 0 or live + cost <= limit
  local back = math.min(-cost, live) -- to be given back
  local logged = cost > 0 and (allowed or count_denied)

  if cost ~= 0 and shift > 0 then
    local moved = redis.call('LRANGE', key, 0, live - 1)
    for i = 1, #moved do moved[i] = int((tonumber(moved[i]) or newest) - shift) end
    redis.call('DEL', key)
    push('RPUSH', key, moved)
    redis.call('PEXPIRE', key, px(life(window)))
    length, newest, shift = live, now, 0
  end
  if logged then
    local entries = {}
    for i = 1, cost do entries[i] = int(at) end
    push('LPUSH', key, entries)
    length = length + cost
    live, newest = math.min(live + cost, math.max(limit, live)), at
    if length > live then redis.call('LTRIM', key, '0', live - 1) end
    redis.call('PEXPIRE', key, px(life(window)))
  end

  if back > 0 then
    if back < live then redis.call('LTRIM', key, back, live - 1) else redis.call('DEL', key) end
    live = live - back
    newest = live > 0 and time(0)
    if newest then redis.call('PEXPIRE', key, px(life(window))) end
  end

  local retry, reset = 0, 0
  if not allowed then
    local leaves = time(limit - cost)
    if not leaves then return nil end
    retry = math.min(leaves, newest) - shift + window - now -- also of times that somebody else left out of order
  end
  if live > 0 then reset = newest - shift + window - now end
  return allowed and 1 or 0, math.max(limit - live, 0), retry, reset
end
