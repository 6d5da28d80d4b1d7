-- fixed-window: the window's start plus its count, as one number in decimal digits; where the
-- count is not below the window's microseconds, the two apart, with a "+" between.
local find = string.find

return function(state, now, own, cost, p)
  local limit, window = p[1], p[2]
  local start, count, set_back, keep = now - now % window, 0, false, false
  if state then
    local s, c = tonumber(state), nil
    if s then
      c = s % window
      s = s - c
      if s ~= start and type(state) == 'string' and not find(state, '^[1-9]%d*$') and state ~= '0' then return nil end
    else
      local _, _, a, b = find(state, '^(%d+)%+(%d+)$')
      s, c = tonumber(a), tonumber(b)
      if not s or #a > 16 or #b > 10 or c < window or c > 1000000000 or s % window ~= 0 then return nil end
    end
    if s > MAX_TIME then return nil end
    if s == start then
      count, keep = c, true
    elseif s < start then
      -- over
    elseif own and s > now + CLOCK_TOLERANCE then
      count, set_back = c, true
    else
      start, count, keep = s, c, true
    end
  end
  local left = start + window - now
  local allowed = cost <= 0 or count + cost <= limit
  local write = cost > 0 and allowed or cost < 0 and count > 0 or cost ~= 0 and set_back
  if allowed then
    count = count + cost
    if count < 0 then count = 0 end
  end
  local next, ttl = false, 0
  if write then
    next = count < window and start + count or string.format('%d+%d', start, count)
    ttl = (own and left or math.min(left, window)) + margin(window)
  end
  local remaining = limit - count
  if remaining < 0 then remaining = 0 end
  return next, ttl, allowed and 1 or 0, remaining, allowed and 0 or left, count > 0 and left or 0, keep
end
