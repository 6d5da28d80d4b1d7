-- bucketed-window: index of the newest sub-window (6 bytes), then the varints of the
-- counts from it backwards.
local function varint_bytes(v)
  local s = ''
  while v >= 128 do
    local low = v % 128
    s = s .. char(low + 128)
    v = (v - low) / 128
  end
  return s .. char(v)
end

local decide_again
local function decide(state, now, own, cost, p)
  local limit, sub, buckets = p[1], p[2], p[3]
  local index, age, set_back = (now - now % sub) / sub, 0, false
  if state then
    if #state <= 6 then return nil end
    local newest = get48(state, 1)
    if newest * sub > MAX_TIME then return nil end
    if newest <= index then
      age = index - newest
    elseif own and newest * sub > now + CLOCK_TOLERANCE then
      set_back = true
    else
      index = newest
    end
  end
  local live, first, counted, leaves = 0, 0, nil, nil
  local i, second, stop, k = 7, 7, state and #state or 0, age
  while i <= stop and k <= buckets do
    local n, unit, b = 0, 1, byte(state, i)
    while b and b >= 128 and unit < 268435456 do
      n, unit, i = n + (b - 128) * unit, unit * 128, i + 1
      b = byte(state, i)
    end
    if not b or b >= 128 then return nil end
    n, i = n + b * unit, i + 1
    if n > 1000000000 then return nil end
    if k == 0 then first, second = n, i end
    live = live + n
    if n > 0 and not counted then counted = k end
    if not leaves and live > limit - cost then leaves = k end
    k = k + 1
  end
  local function opens(age_of)
    return (index - age_of + buckets + 1) * sub - now
  end
  if cost < 0 then -- given back: from the newest counts, and then a peek
    local back, next, changed, at = -cost, '', set_back, 7
    while at < i do
      local n, unit, b = 0, 1, byte(state, at)
      while b >= 128 do
        n, unit, at = n + (b - 128) * unit, unit * 128, at + 1
        b = byte(state, at)
      end
      n, at = n + b * unit, at + 1
      local taken = math.min(n, back)
      changed = changed or taken > 0
      next, back = next .. varint_bytes(n - taken), back - taken
    end
    local whole = #next > 0 and put48(set_back and index or index - age) .. next
    local _, _, allowed, left, retry, reset = decide_again(whole, now, own, 0, p)
    if changed and whole then
      return whole, math.min(math.max(reset, 1), (buckets + 1) * sub), allowed, left, retry, reset
    end
    return false, 0, allowed, left, retry, reset
  end
  local allowed = cost == 0 or live + cost <= limit
  local retry, reset = 0, 0
  if not allowed then
    retry = opens(leaves)
  elseif cost > 0 then
    first, counted, live = first + cost, 0, live + cost
  end
  if counted then reset = opens(counted) end
  local next, ttl = false, 0
  if cost > 0 and (allowed or set_back) then
    next = put48(index) .. varint_bytes(first)
    if state and age <= buckets then
      next = next .. string.rep(char(0), math.max(age - 1, 0)) .. string.sub(state, second, i - 1)
    end
    ttl = math.min(opens(counted), (buckets + 1) * sub)
  end
  return next, ttl, allowed and 1 or 0, math.max(limit - live, 0), retry, reset
end
decide_again = decide
return decide
