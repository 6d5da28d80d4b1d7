-- sliding-log: a sorted set, score the time in microseconds. The name is the time, and
-- for further requests at the same time a number behind a dot.
local CHUNK = 250

-- name is that of the request with the number k at a time.
local function name(time, k)
  return k == 0 and time or time .. '.' .. k
end

-- add logs the time t, of which there are already same, n times.
local function add(key, t, same, n)
  local time, entries, i = int(t), {}, 0
  while i < n do
    local last = math.min(n, i + CHUNK)
    entries = {}
    while i < last do
      entries[#entries + 1] = time
      entries[#entries + 1] = name(time, same + i)
      i = i + 1
    end
    redis.call('ZADD', key, unpack(entries))
  end
end

local function newest_of(key)
  local last = redis.call('ZRANGE', key, '-1', '-1', 'WITHSCORES')
  return last[2] and tonumber(last[2])
end

-- drop takes the newest n out: by name, since equal times are ordered as text.
local function drop(key, n)
  while n > 0 do
    local time = int(newest_of(key))
    local same, names = redis.call('ZCOUNT', key, time, time), {}
    while n > 0 and same > 0 and #names < CHUNK do
      n, same = n - 1, same - 1
      names[#names + 1] = name(time, same)
    end
    redis.call('ZREM', key, unpack(names))
  end
end

-- move takes the log back by d, without what is older than floor.
local function move(key, d, floor)
  local old = redis.call('ZRANGEBYSCORE', key, '(' .. int(floor), '+inf', 'WITHSCORES')
  redis.call('DEL', key)
  local i = 2
  while i <= #old do
    local n = 1
    while old[i + 2 * n] == old[i] do n = n + 1 end
    add(key, tonumber(old[i]) - d, 0, n)
    i = i + 2 * n
  end
end

return function(key, now, own, cost, p, px)
  local limit, window = p[1], p[2]
  local newest = newest_of(key)
  if newest and foreign(newest) then return nil end
  local at, shift = placed(newest, now, own)
  local floor = at + shift - window
  local live = newest and redis.call('ZCOUNT', key, '(' .. int(floor), '+inf') or 0
  local allowed = cost <= 0 or live + cost <= limit
  local back = math.min(-cost, live) -- to be given back

  if cost ~= 0 and shift > 0 then
    move(key, shift, floor)
    redis.call('PEXPIRE', key, px(life(window)))
    newest, shift = now, 0
  end
  if cost > 0 and allowed or back > 0 then
    -- A bounded number of expired entries, so that no one request pays for them all.
    local expired = newest and redis.call('ZCARD', key) - live or 0
    if expired > 0 then
      redis.call('ZREMRANGEBYRANK', key, '0', math.min(expired, 1000 + math.max(cost, 0)) - 1)
    end
  end
  if cost > 0 and allowed then
    add(key, at, newest == at and redis.call('ZCOUNT', key, int(at), int(at)) or 0, cost)
    redis.call('PEXPIRE', key, px(life(window)))
    live, newest = live + cost, at
  end

  if back > 0 then
    drop(key, back)
    live = live - back
    newest = live > 0 and newest_of(key)
    if newest then redis.call('PEXPIRE', key, px(life(window))) end
  end

  local retry, reset = 0, 0
  if not allowed then
    local leaves = redis.call('ZREVRANGE', key, limit - cost, limit - cost, 'WITHSCORES')
    retry = tonumber(leaves[2]) - shift + window - now
  end
  if live > 0 then reset = newest - shift + window - now end
  return allowed and 1 or 0, math.max(limit - live, 0), retry, reset
end
