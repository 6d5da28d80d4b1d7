-- fixed-window-first-hit: start of the window (7 bytes), count (4 bytes).
return function(state, now, own, cost, p)
  local limit, window = p[1], p[2]
  local start, count, set_back, keep = now, 0, false, false
  if state then
    if #state ~= 11 then return nil end
    local s, c = get56(state, 1), get32(state, 8)
    if s > MAX_TIME then return nil end
    if c == 0 or s + window <= now then
      -- all given back, or over
    elseif own and s > now + CLOCK_TOLERANCE then
      count, set_back = c, true
    else
      start, count, keep = s, c, true
    end
  end
  local left = start + window - now
  local allowed = cost <= 0 or count + cost <= limit
  local write = cost > 0 and allowed or cost < 0 and count > 0 or cost ~= 0 and set_back
  if allowed then count = math.max(count + cost, 0) end
  local next, ttl = false, 0
  if write then
    next = put56(start) .. put32(count)
    ttl = (own and left or math.min(left, window)) + math.min(window, 1000000)
  end
  return next, ttl, allowed and 1 or 0, math.max(limit - count, 0), allowed and 0 or left, count > 0 and left or 0, keep
end
