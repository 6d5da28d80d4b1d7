-- Steps on values: read every key once, decide in order, write what changed once.
local states, distinct = {}, {}
for i = 1, #KEYS do
  local key = KEYS[i]
  if states[key] == nil then
    states[key] = false
    distinct[#distinct + 1] = key
  end
end
local held, expiry = {}, {}
if #distinct == 1 then
  local key = distinct[1]
  states[key] = redis.call('GET', key)
  held[key] = states[key]
else
  local values = redis.call('MGET', unpack(distinct))
  for i = 1, #distinct do
    states[distinct[i]], held[distinct[i]] = values[i], values[i]
  end
end

for i = 1, #KEYS do
  local key, cost, p = KEYS[i], arguments()
  local next, ttl, allowed, remaining, retry, reset = step(states[key], now, own, cost, p)
  if allowed == nil then
    answer(CORRUPT, 0, 0, 0)
  else
    answer(allowed, remaining, retry, reset)
    if next then states[key], expiry[key] = next, px(ttl) end
  end
end

-- MGET calls a key of another type missing; it must not be overwritten.
local function foreign(key)
  if held[key] then return false end
  if expiry[key] then return not redis.call('SET', key, states[key], 'NX', 'PX', expiry[key]) end
  return #distinct > 1 and redis.call('EXISTS', key) == 1
end

for i = 1, #distinct do
  local key = distinct[i]
  if foreign(key) then
    for j = 1, #KEYS do
      if KEYS[j] == key then reply[4 * j - 3] = WRONG_TYPE end
    end
  elseif held[key] and expiry[key] then
    redis.call('SET', key, states[key], 'PX', expiry[key])
  end
end
return reply
