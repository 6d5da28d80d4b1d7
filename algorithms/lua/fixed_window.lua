-- fixed-window: index of the aligned window (6 bytes), count (4 bytes).
return function(state, now, own, cost, p)
  local limit, window = p[1], p[2]
  local index, count, set_back = (now - now % window) / window, 0, false
  if state then
    if #state ~= 10 then return nil end
    local i, c = get48(state, 1), get32(state, 7)
    if i * window > MAX_TIME then return nil end
    if i < index then
      -- over
    elseif own and i * window > now + CLOCK_TOLERANCE then
      count, set_back = c, true
    else
      index, count = i, c
    end
  end
  local left = (index + 1) * window - now
  local allowed = cost <= 0 or count + cost <= limit
  local write = cost > 0 and allowed or cost < 0 and count > 0 or cost ~= 0 and set_back
  if allowed then count = math.max(count + cost, 0) end
  local next, ttl = false, 0
  if write then
    next = put48(index) .. put32(count)
    ttl = math.min(left, window) + margin(window)
  end
  return next, ttl, allowed and 1 or 0, math.max(limit - count, 0), allowed and 0 or left, count > 0 and left or 0
end
