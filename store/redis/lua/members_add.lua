-- Adds ARGV[2] and on, a score and a name in turn, to a sorted set, to live ARGV[1]
-- milliseconds. In chunks: Lua's stack does not hold thousands of arguments.
local CHUNK = 1000
local added = 0
if #ARGV == 1 then redis.call('ZCARD', KEYS[1]) end -- a key of another type is an error
for i = 2, #ARGV, CHUNK do
  added = added + redis.call('ZADD', KEYS[1], unpack(ARGV, i, math.min(i + CHUNK - 1, #ARGV)))
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return added
