-- sliding-log: a sorted set, score the time in microseconds. The name is the time, and
-- for further requests at the same time a number behind a dot.
local CHUNK = 250

-- add logs the time t, of which there are already same, n times.
local function add(key, t, same, n)
  local time, entry, i = int(t), {}, 0
  while i < n do
    local last = math.min(n, i + CHUNK)
    entry = {}
    while i < last do
      local k = same + i
      entry[#entry + 1] = time
      entry[#entry + 1] = k == 0 and time or time .. '.' .. k
      i = i + 1
    end
    redis.call('ZADD', key, unpack(entry))
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
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  local newest = last[2] and tonumber(last[2])
  local at, shift = placed(newest, now, own)
  local floor = at + shift - window
  local live = newest and redis.call('ZCOUNT', key, '(' .. int(floor), '+inf') or 0
  local allowed = cost == 0 or live + cost <= limit

  if cost > 0 and shift > 0 then
    move(key, shift, floor)
    redis.call('PEXPIRE', key, px(life(window)))
    newest, shift = now, 0
  end
  if cost > 0 and allowed then
    -- A bounded number of expired entries, so that no one request pays for them all.
    local expired = newest and redis.call('ZCARD', key) - live or 0
    if expired > 0 then
      redis.call('ZREMRANGEBYRANK', key, 0, math.min(expired, 1000 + cost) - 1)
    end
    add(key, at, newest == at and redis.call('ZCOUNT', key, int(at), int(at)) or 0, cost)
    redis.call('PEXPIRE', key, px(life(window)))
    live, newest = live + cost, at
  end

  local retry, reset = 0, 0
  if not allowed then
    local leaves = redis.call('ZREVRANGE', key, limit - cost, limit - cost, 'WITHSCORES')
    retry = tonumber(leaves[2]) - shift + window - now
  end
  if live > 0 then reset = newest - shift + window - now end
  return allowed and 1 or 0, math.max(limit - live, 0), retry, reset
end
