-- fixed-window: the window's start plus its count, as one number in decimal digits; where the
-- count is not below the window's microseconds, the two apart, with a "+" between.
local find, format, tonumber = string.find, string.format, tonumber

-- parse returns the start and the count.
local function parse(state, window)
  local s = tonumber(state)
  if s then
    if type(state) == 'string' and not find(state, '^[1-9]%d*$') and state ~= '0' then return nil end
    return s - s % window, s % window
  end
  local _, _, a, b = find(state, '^(%d+)%+(%d+)$')
  local c
  s, c = tonumber(a), tonumber(b)
  if not s or #a > 16 or #b > 10 or c < window or c > 1000000000 or s % window ~= 0 then return nil end
  return s, c
end

return function(state, now, own, cost, p)
  local limit, window = p[1], p[2]
  local start = now - now % window
  local count, set_back, keep = 0, false, false
  if state then
    local c = (tonumber(state) or -1) - start
    if c >= 0 and c < window then -- in this window, as nearly all
      count, keep = c, true
    else
      local s
      s, c = parse(state, window)
      if not s or s > MAX_TIME then return nil end
      if s < start then
        -- over
      elseif own and s > now + CLOCK_TOLERANCE then
        count, set_back = c, true
      else
        start, count, keep = s, c, true
      end
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
    next = count < window and start + count or format('%d+%d', start, count)
    ttl = (own or left < window) and left or window
    ttl = ttl + (window < 1000000 and window or 1000000)
  end
  local remaining = limit > count and limit - count or 0
  return next, ttl, allowed and 1 or 0, remaining, allowed and 0 or left, count > 0 and left or 0, keep
end
