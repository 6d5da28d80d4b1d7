-- Adds ARGV[1] to a counter, at least to zero and at most to ARGV[3]. A new counter
-- lives ARGV[2] milliseconds, and so does one that somebody left without an end.
-- Answers the count, OVERFLOW, or CORRUPT where the key holds no count.
local OVERFLOW, CORRUPT = -1, -2
local key, delta, most = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3])
local value = redis.call('GET', key)
local count = 0
if value then
  if not string.find(value, '^%d+$') or tonumber(value) > most then return CORRUPT end
  count = tonumber(value)
elseif delta <= 0 then
  return 0
end
if count + delta > most then return OVERFLOW end
if not value then
  redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
  return delta
end
delta = math.max(delta, 0 - count)
if delta ~= 0 then count = redis.call('INCRBY', key, delta) end
if redis.call('PTTL', key) == -1 then redis.call('PEXPIRE', key, ARGV[2]) end
return count
