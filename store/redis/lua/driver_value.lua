-- Steps on values: read every key once, decide in order, write what changed once.
local several, values = #KEYS > 1, nil
if several then
  values = call('MGET', unpack(KEYS))
else
  values = {call('GET', KEYS[1])}
end

local key, held, state, changed, life, begun, asked
local format = string.format
local function digits(v)
  return type(v) == 'number' and format('%d', v) or v
end

local known_delta, delta_text = nil, nil

-- add turns the number under the key into the state. It fails where the key holds what
-- only Lua takes for one.
local function add(delta)
  if delta ~= known_delta then known_delta, delta_text = delta, format('%d', delta) end
  return type(redis.pcall('INCRBY', key, delta_text)) == 'number'
end

local function save()
  if held then
    if not changed then return end
    if life then
      call('PSETEX', key, px(life), digits(state))
    elseif type(state) == 'number' and tonumber(held) and add(state - held) then
      return
    elseif #digits(state) == #held then
      call('SETRANGE', key, '0', digits(state))
    else
      call('SET', key, digits(state), 'KEEPTTL')
    end
    return
  end
  -- MGET calls a key of another type missing; it must not be overwritten.
  local foreign
  if changed then
    foreign = not call('SET', key, digits(state), 'NX', 'PX', px(life))
  else
    foreign = several and call('EXISTS', key) == 1
  end
  if foreign then
    for i = begun + 1, size do reply[i] = nil end
    size = begun
    for _ = 1, asked do mark(WRONG_TYPE) end
  end
end

local i = 0
local keys, often, cost, p = run()
while keys do
  local last = i + keys
  repeat
    if keys > 0 then
      if key then save() end
      i = i + 1
      key, held = KEYS[i], values[i]
      state, changed, life, begun, asked = held, false, nil, size, 0
    end
    for _ = 1, often do
      local next, ttl, allowed, remaining, retry, reset, keep = step(state, now, own, cost, p)
      if allowed == 1 and retry == 0 and remaining >= 0 and (remaining + reset) % 1 == 0 then
        reply[size + 1], reply[size + 2] = remaining * 2 + 1, reset -- as answer does
        size = size + 2
        if next then
          state, changed = next, true
          if not (keep and own) then life = ttl end
        end
      elseif allowed == nil then
        mark(CORRUPT)
      else
        answer(allowed, remaining, retry, reset)
        if next then
          state, changed = next, true
          if not (keep and own) then life = ttl end
        end
      end
    end
    asked = asked + often
  until i == last
  keys, often, cost, p = run()
end
save()
return reply
