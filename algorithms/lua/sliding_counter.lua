-- sliding-counter: index of the aligned window (6 bytes), the count of the one before
-- and its own (4 bytes each).
local max = math.max

return function(state, now, own, cost, p)
  local limit, window = p[1], p[2]
  local index, prev, cur, set_back, keep = (now - now % window) / window, 0, 0, false, false
  if state then
    if #state ~= 14 then return nil end
    local c, d, e, f, g, h, j, k, l, m, n, o, q, r = byte(state, 1, 14)
    local i = c + d * 256 + e * 65536 + f * 16777216 + (g + h * 256) * 4294967296
    local a, b = j + k * 256 + l * 65536 + m * 16777216, n + o * 256 + q * 65536 + r * 16777216
    if i * window > MAX_TIME or a > 1000000000 or b > 1000000000 then return nil end
    if i < index - 1 then
      -- both over
    elseif i == index - 1 then
      prev = b
    elseif i == index then
      prev, cur, keep = a, b, b > 0
    elseif own and i * window > now + CLOCK_TOLERANCE then
      prev, cur, set_back = a, b, true
    else
      index, prev, cur, keep = i, a, b, b > 0
    end
  end
  local elapsed = max(now - index * window, 0)
  local room = limit - cur - (prev > 0 and prev - mul_div_wide(prev, elapsed, window) or 0)
  local allowed = cost <= 0 or cost <= room
  local write = cost > 0 and allowed or cost < 0 and cur > 0 or cost ~= 0 and set_back
  local retry = 0
  if allowed then
    local new = max(cur + cost, 0)
    room, cur = room + cur - new, new
  else
    local left = limit - cur - cost
    if left >= 0 then
      retry = (index + 1) * window - mul_add_div(window, left, 0, prev) - now
    else
      retry = (index + 2) * window - mul_add_div(window, limit - cost, 0, cur) - now
    end
  end
  local reset = 0
  if cur > 0 then
    reset = (index + 2) * window - now
  elseif prev > 0 then
    reset = (index + 1) * window - now
  end
  local next, ttl = false, 0
  if write then
    next = put48(index) .. put32(prev) .. put32(cur)
    ttl = max(reset, 1)
    if not own then ttl = math.min(ttl, 2 * window) end
  end
  return next, ttl, allowed and 1 or 0, max(room, 0), retry, reset, keep
end
