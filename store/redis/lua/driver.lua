-- What both kinds of driver share. ARGV holds the time, or "" for the server's; then
-- for each of KEYS its cost, how many parameters it has, and those.
local now, own = tonumber(ARGV[1]), false
if ARGV[1] == '' then
  local time = redis.call('TIME')
  now, own = tonumber(time[1]) * 1000000 + tonumber(time[2]), true
end

-- px turns microseconds into whole milliseconds, rounded up. One is added because the
-- server counts from a time that it rounded down.
local function px(ttl)
  if not own then ttl = math.max(ttl, HOUSEKEEPING_TTL) end
  ttl = math.max(ttl, 0) + 999
  return (ttl - ttl % 1000) / 1000 + 1
end

local read = 1
local function arguments()
  local cost, p = tonumber(ARGV[read + 1]), {}
  read = read + 2
  for i = 1, tonumber(ARGV[read]) do p[i] = tonumber(ARGV[read + i]) end
  read = read + #p
  return cost, p
end

-- The reply: four integers for each of KEYS. CORRUPT and WRONG_TYPE stand in place of
-- the first.
local CORRUPT, WRONG_TYPE = -1, -2
local reply, size = {}, 0
local function answer(allowed, remaining, retry, reset)
  -- The server would cut a fraction off without a word.
  if allowed % 1 + remaining % 1 + retry % 1 + reset % 1 ~= 0 then error('step answered a fraction') end
  reply[size + 1], reply[size + 2], reply[size + 3], reply[size + 4] = allowed, remaining, retry, reset
  size = size + 4
end
