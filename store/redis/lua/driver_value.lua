-- Steps on values: read every key once, decide in order, write what changed once.
local several, values = #KEYS > 1, nil
if several then
  values = call('MGET', unpack(KEYS))
else
  values = {call('GET', KEYS[1])}
end

local try, type, tonumber, format = redis.pcall, type, tonumber, string.format
local function digits(v)
  return type(v) == 'number' and format('%d', v) or v
end

-- put writes what comes after held. Without a life the key's TTL stays.
local known_delta, delta_text = nil, nil
local function put(key, held, next, life)
  if life then
    call('PSETEX', key, px(life), digits(next))
    return
  end
  if type(next) == 'number' then
    local number = tonumber(held)
    if number then
      local delta = next - number
      if delta ~= known_delta then known_delta, delta_text = delta, format('%d', delta) end
      -- It fails where the key holds what only Lua takes for a number.
      if type(try('INCRBY', key, delta_text)) == 'number' then return end
    end
    next = digits(next)
  end
  if #next == #held then
    call('SETRANGE', key, '0', next)
  else
    call('SET', key, next, 'KEEPTTL')
  end
end

local key, held, state, changed, life, begun, asked
local function save()
  if held then
    if changed then put(key, held, state, life) end
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
    size, told = begun, nil
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
      -- The usual case, without calls that it can do without: a key that is there and asked
      -- once. The last of a run may be asked again by the next one.
      while often == 1 and i < last - 1 and values[i + 1] do
        i = i + 1
        local held = values[i]
        local next, ttl, allowed, remaining, retry, reset, keep = step(held, now, own, cost, p)
        if allowed == 1 and reset == told and retry == 0 and remaining >= 0 and remaining % 1 == 0 then -- as answer does
          size = size + 1
          reply[size] = remaining * 4 + 3
        elseif allowed == 1 and retry == 0 and remaining >= 0 and (remaining + reset) % 1 == 0 then
          reply[size + 1], reply[size + 2] = remaining * 4 + 1, reset
          size, told = size + 2, reset
        else
          answer(allowed, remaining, retry, reset)
        end
        if next then put(KEYS[i], held, next, not (keep and own) and ttl or nil) end
      end
      i = i + 1
      key, held = KEYS[i], values[i]
      state, changed, life, begun, asked = held, false, nil, size, 0
    end
    for _ = 1, often do
      local next, ttl, allowed, remaining, retry, reset, keep = step(state, now, own, cost, p)
      answer(allowed, remaining, retry, reset)
      if next then
        state, changed = next, true
        if not (keep and own) then life = ttl end
      end
    end
    asked = asked + often
  until i == last
  keys, often, cost, p = run()
end
save()
return reply
