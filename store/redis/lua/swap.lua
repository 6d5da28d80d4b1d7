-- Puts ARGV[2], for ARGV[3] milliseconds, in place of ARGV[1].
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
