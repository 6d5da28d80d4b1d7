-- In a script the reply has one shape, a name and a score in turn, under RESP2 and RESP3.
return redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES')
