-- gcra: theoretical arrival time in microseconds (7 bytes), the rest of it in 1/L of
-- one (4 bytes), that L (4 bytes). p: limit, window, bucket and its rest, emission and
-- its rest; each rest in 1/L of a microsecond.
return function(state, now, own, cost, p)
  local limit, window, bucket, bucket_part, emission, emission_part = p[1], p[2], p[3], p[4], p[5], p[6]
  local ahead, part, moved, tat = 0, 0, false, nil
  if state then
    if #state ~= 15 then return nil end
    local a, b, c, d, e, f, g, h, i, j, k, l, m, n, o = byte(state, 1, 15)
    tat = a + b * 256 + c * 65536 + d * 16777216 + (e + f * 256 + g * 65536) * 4294967296
    local rest, wrote = h + i * 256 + j * 65536 + k * 16777216, l + m * 256 + n * 65536 + o * 16777216
    if tat > MAX_TIME or wrote < 1 or wrote > 1000000000 or rest >= wrote then return nil end
    if tat >= now then
      ahead, part = tat - now, rest
      if wrote ~= limit then
        moved = true
        ahead, part = mul_add_div(ahead, wrote, part, limit)
        if ahead > bucket or (ahead == bucket and part > bucket_part) then ahead, part = bucket, bucket_part end
      end
      if own and ahead > bucket + CLOCK_TOLERANCE then
        ahead, part, moved = bucket, bucket_part, true
      end
    end
  end
  local after, after_part = emission, emission_part
  if cost ~= 1 then after, after_part = mul_add_div(window, math.abs(cost), 0, limit) end
  if cost >= 0 then
    after, after_part = after + ahead, after_part + part
    if after_part >= limit then after, after_part = after + 1, after_part - limit end
  elseif after < ahead or (after == ahead and after_part <= part) then -- given back
    after, after_part = ahead - after, part - after_part
    if after_part < 0 then after, after_part = after - 1, after_part + limit end
  else
    after, after_part = 0, 0
  end
  local allowed = cost <= 0 or after < bucket or (after == bucket and after_part <= bucket_part)
  local write = cost > 0 and allowed or cost < 0 and (ahead ~= after or part ~= after_part) or cost ~= 0 and moved
  local retry = 0
  if allowed then
    ahead, part = after, after_part
  else
    retry = after - bucket
    if after_part > bucket_part then retry = retry + 1 end
  end
  local remaining = 0
  if ahead < bucket or (ahead == bucket and part <= bucket_part) then
    local free, free_part = bucket - ahead, bucket_part - part
    if free_part < 0 then free, free_part = free - 1, free_part + limit end
    if emission_part == 0 then
      remaining = (free - free % emission) / emission
    else
      -- Guess with rounded numbers, then find the exact one beside it.
      remaining = math.floor(free / window * limit + free_part / window)
      local us, rest = mul_add_div(window, remaining, 0, limit)
      while us > free or (us == free and rest > free_part) do
        remaining = remaining - 1
        us, rest = mul_add_div(window, remaining, 0, limit)
      end
      us, rest = mul_add_div(window, remaining + 1, 0, limit)
      while us < free or (us == free and rest <= free_part) do
        remaining = remaining + 1
        us, rest = mul_add_div(window, remaining + 1, 0, limit)
      end
    end
  end
  local reset = ahead
  if part > 0 then reset = reset + 1 end
  if not write then return false, 0, allowed and 1 or 0, remaining, retry, reset end
  local new, ttl, keep = now + ahead, 1, false
  if own then -- see gcraExpiry in Go
    local grain = (window - window % 16) / 16 + 1
    local cell = new - new % grain
    keep = tat and tat >= cell and tat < cell + grain
    ttl = cell + grain - now
  elseif reset > 1 then
    local full = bucket_part > 0 and bucket + 1 or bucket
    ttl = reset < full and reset or full
  end
  return put56(new) .. put32(part) .. put32(limit), ttl, allowed and 1 or 0, remaining, retry, reset, keep
end
