-- What both kinds of driver share. ARGV holds the time, or "" for the server's. Then come
-- runs: how many keys; how often each is asked; the cost; how many parameters, and those, or ""
-- for the ones before. A run of no keys asks once more of the key before.
local call = redis.call
local now, own = tonumber(ARGV[1]), false
if ARGV[1] == '' then
  local time = call('TIME')
  now, own = time[1] * 1000000 + time[2], true
end

-- px turns microseconds into whole milliseconds, rounded up, in digits: the server takes
-- long to print a number. One is added because it counts from a time that it rounded down.
local known_ttl, digits_of_ttl = nil, nil
local function px(ttl)
  if ttl == known_ttl then return digits_of_ttl end
  known_ttl = ttl
  if not own and ttl < HOUSEKEEPING_TTL then ttl = HOUSEKEEPING_TTL end
  if ttl < 0 then ttl = 0 end
  ttl = ttl + 999
  digits_of_ttl = string.format('%d', (ttl - ttl % 1000) / 1000 + 1)
  return digits_of_ttl
end

-- The reply: for each decision four times what remains, two more where the time of the reset is
-- the one told before, and one more where it is allowed; then for a denied one when to come again;
-- then, unless told before, when the state is as new. Or one mark.
local CORRUPT, WRONG_TYPE, GARBLED = -1, -2, -3
local reply, size, told = {}, 0, nil
local function mark(what)
  size = size + 1
  reply[size] = what
end

local function answer(allowed, remaining, retry, reset)
  if allowed == nil then return mark(CORRUPT) end
  -- The server would cut a fraction off without a word.
  if (allowed + remaining + retry + reset) % 1 ~= 0 then error('step answered a fraction') end
  if remaining < 0 or not (allowed == 0 or allowed == 1 and retry == 0) then return mark(GARBLED) end
  size = size + 1
  reply[size] = remaining * 4 + (reset == told and 2 or 0) + allowed
  if allowed == 0 then
    size = size + 1
    reply[size] = retry
  end
  if reset ~= told then
    size, told = size + 1, reset
    reply[size] = reset
  end
end

-- run reads the next run.
local read, p = 2, {}
local function run()
  local keys, often, cost, n = ARGV[read], ARGV[read + 1], ARGV[read + 2], tonumber(ARGV[read + 3])
  if not keys then return nil end
  read = read + 4
  if n then
    p = {}
    for j = 1, n do p[j] = tonumber(ARGV[read + j - 1]) end
    read = read + n
  end
  return tonumber(keys), tonumber(often), tonumber(cost), p
end
