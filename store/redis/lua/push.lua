-- Puts ARGV[2] and on before a list's head, to live ARGV[1] milliseconds. In chunks:
-- Lua's stack does not hold thousands of arguments.
local CHUNK = 1000
local length = #ARGV == 1 and redis.call('LLEN', KEYS[1])
for i = 2, #ARGV, CHUNK do
  length = redis.call('LPUSH', KEYS[1], unpack(ARGV, i, math.min(i + CHUNK - 1, #ARGV)))
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return length
