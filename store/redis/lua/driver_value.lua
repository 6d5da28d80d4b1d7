-- Steps on values: read every key once, decide in order, write what changed once.
local several, values = #KEYS > 1, nil
if several then
  values = call('MGET', unpack(KEYS))
else
  values = {call('GET', KEYS[1])}
end

local key, held, state, life, begun, asked

-- MGET calls a key of another type missing; it must not be overwritten.
local function foreign()
  if life then return not call('SET', key, state, 'NX', 'PX', px(life)) end
  return several and call('EXISTS', key) == 1
end

local function save()
  if held then
    if life then call('PSETEX', key, px(life), state) end
  elseif foreign() then
    for i = begun + 1, size do reply[i] = nil end
    size = begun
    for _ = 1, asked do mark(WRONG_TYPE) end
  end
end

each(function(i)
  if key then save() end
  key, held, life, begun, asked = KEYS[i], values[i], nil, size, 0
  state = held
end, function(cost, p)
  local next, ttl, allowed, remaining, retry, reset = step(state, now, own, cost, p)
  asked = asked + 1
  if allowed == nil then
    mark(CORRUPT)
  else
    answer(allowed, remaining, retry, reset)
    if next then state, life = next, ttl end
  end
end)
save()
return reply
