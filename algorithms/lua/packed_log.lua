-- packed-log: see packed.go for the value's form. A small value is read and written
-- whole; of a wide one only the start, the entries that have expired, and the end.
local HEADER, SEGMENT, MARK, SMALL = 65, 2048, 14, 1200
local floor, min, max = math.floor, math.min, math.max

local function varint_bytes(v)
  local s = ''
  while v >= 128 do
    local low = v % 128
    s = s .. char(low + 128)
    v = (v - low) / 128
  end
  return s .. char(v)
end

local function room(tail)
  local growth = tail < 16384 and 64 or 512
  return tail + (growth - tail % growth) % growth
end

return function(key, now, own, cost, p, px)
  local limit, window, tick, block = p[1], p[2], p[3], p[4]
  local wanted = block
  local value = redis.call('GETRANGE', key, '0', '1199') -- SMALL bytes
  local wide, lead, head, tail = false, 0, 0, 0
  local origin, before, closed, last = 0, 0, 0, 0
  local run, pend, open, open_at = 0, 0, 0, 0
  local moved, entry, last_before, closed_before = 0, '', 0, 0

  -- The bytes of the stream at hand: bytes holds those from offset from.
  local bytes, from, skip = value, 0, 0
  local function byte_at(i)
    local at = i - from + skip + 1
    local b = at > 0 and byte(bytes, at) -- below zero Lua counts from the end
    if not b then
      bytes, from, skip = redis.call('GETRANGE', key, HEADER + i, HEADER + i + 255), i, 0
      b = byte(bytes, 1)
    end
    return b
  end
  local function stream(i, j) -- from i to before j
    if wide then return redis.call('GETRANGE', key, HEADER + i, HEADER + j - 1) end
    return string.sub(value, skip + i + 1, skip + j)
  end
  local function varint(i, stop)
    local v, unit = 0, 1
    for _ = 1, 8 do
      if i >= stop then return nil end
      local b = byte_at(i)
      i = i + 1
      if b < 128 then
        v = v + b * unit
        if v > MAX_TIME then return nil end
        return v, i
      end
      v = v + (b - 128) * unit
      unit = unit * 128
    end
    return nil
  end

  if #value > 0 then
    local form = byte(value, 1)
    if form == 1 and #value >= 8 then
      origin = get56(value, 2) - 1
      local i, by, stop = 7, {}, #value - 1
      skip = 1 -- so that varint counts behind the form's byte
      for f = 1, 7 do
        if f == 7 and by[6] == 0 then break end
        by[f], i = varint(i, stop)
        if not i then return nil end
      end
      block, closed, last, run, open = by[1], by[2], origin + by[3], by[5], by[6]
      pend = last + by[4]
      open_at = open > 0 and pend + by[7] or pend
      skip = skip + i
      tail = stop - i
    elseif form == 2 and #value >= HEADER then
      wide, skip = true, HEADER
      origin, before, closed = get56(value, 2) - 1, get56(value, 9), get56(value, 16)
      last, pend, run = get56(value, 23), get56(value, 30), get32(value, 37)
      open_at, open = get56(value, 41), get32(value, 48)
      local a, b = byte(value, 52, 53)
      lead, head, tail, block = a + b * 256, get32(value, 54), get32(value, 58), get32(value, 62)
      if lead > SEGMENT or head > tail or HEADER + tail > redis.call('STRLEN', key) then return nil end
    else
      return nil
    end
    local most = (MAX_TIME - MAX_TIME % tick) / tick
    if last < origin or pend < last or open > 0 and open_at < pend or open >= block
      or run == 0 and closed > 0 or block > 1000000000 or run > 1000000000 or closed > 1000000000 or origin > most or open_at > most or pend > most
      or before > MAX_TIME then
      return nil
    end
  end

  local function clear()
    head, tail, closed, wide, moved = 0, 0, 0, false, 0
    origin, last = pend, pend
  end
  local function border(i)
    return wide and i >= lead and (i - lead) % SEGMENT == 0
  end
  local function segment_end(i)
    if not wide then return tail end
    if i < lead then return lead end
    return i + SEGMENT - (i - lead) % SEGMENT
  end
  local function mark_from(i)
    if not wide then return nil end
    if not border(i) then i = segment_end(i) end
    if i + MARK > tail then return nil end
    return i
  end
  local function mark(m)
    local s = stream(m, m + MARK)
    return get56(s, 1) - moved, get56(s, 8)
  end
  local function entry_from(i)
    while i < tail do
      if border(i) then
        i = i + MARK
      elseif byte_at(i) ~= 0 then
        return i
      else
        i = segment_end(i)
      end
    end
    return tail
  end
  local function read(i)
    i = entry_from(i)
    if i >= tail then return nil end
    local stop = min(segment_end(i), tail)
    local by, next = varint(i, stop)
    if not by or by == 0 then return nil end
    local blocks = 1
    if next < stop and byte_at(next) == 0 then
      local more, after = varint(next + 1, stop)
      if more and more > 0 then blocks, next = 1 + more, after end
    end
    return next, by, blocks
  end

  -- When the request comes, by the log.
  local at = floor((now + tick - 1) / tick)
  local time, set_back = now, false
  local newest = open > 0 and open_at or pend
  if newest > 0 then
    local earliest = (newest - 1) * tick + 1
    if own and earliest > now + CLOCK_TOLERANCE then
      set_back = true
      local d = newest - at
      if closed > 0 and origin < d or run > 0 and pend < d then
        run, pend, open_at = run + closed, at, at
        clear()
      else
        moved = d
        origin, last, pend, open_at = max(origin - d, 0), max(last - d, 0), max(pend - d, 0), max(open_at - d, 0)
      end
    else
      at, time = max(at, newest), max(time, earliest)
    end
  end

  -- Drop what has expired.
  local oldest = floor((time - window) / tick)
  if open > 0 and open_at <= oldest then open, open_at = 0, 0 end
  if run > 0 and pend <= oldest then
    run, pend = 0, 0
    clear()
  end
  if closed > 0 and last <= oldest then clear() end
  if closed > 0 then
    local m = mark_from(head)
    while m do
      local t, blocks = mark(m)
      if t > oldest then break end
      closed = closed - (blocks - before)
      head, origin, before = m + MARK, t, blocks
      m = mark_from(head)
    end
    while true do
      local next, by, blocks = read(head)
      if not next then return nil end -- the stream ends before the header says
      if origin + by > oldest then break end
      head, origin = next, origin + by
      closed, before = closed - blocks, before + blocks
    end
  end

  if block ~= wanted then -- another limit made it: the same number, all at the newest time
    local n, latest = min((closed + run) * block + open, 1000000000), open > 0 and open_at or pend
    block, set_back = wanted, true
    open = n % block
    run = (n - open) / block
    pend, open_at = run > 0 and latest or 0, open > 0 and latest or 0
    clear()
  end
  local live = (closed + run) * block + open
  if live < 0 then return nil end
  local allowed = cost <= 0 or live + cost <= limit
  local back, cut = min(-cost, live), false -- to be given back
  local retry, reset = 0, 0
  if not allowed then
    local k = live + cost - limit
    k = floor((k + block - 1) / block)
    local leaves
    if k > closed + run then
      leaves = open_at
    elseif k > closed then
      leaves = pend
    else
      local i, t, seen = head, origin, before
      k = k + before
      local m = mark_from(i)
      while m do
        local mt, blocks = mark(m)
        if blocks >= k then break end
        i, t, seen = m + MARK, mt, blocks
        m = mark_from(i)
      end
      while seen < k do
        local next, by, blocks = read(i)
        if not next then
          t = last
          break
        end
        i, t, seen = next, t + by, seen + blocks
      end
      leaves = min(t, last)
    end
    retry = leaves * tick + window - now
  elseif cost > 0 then
    local function close(blocks)
      if run > 0 and pend == at then
        run = run + blocks
        return
      end
      if run > 0 then
        if closed == 0 then
          clear()
          origin, last = pend - 1, pend - 1
        end
        entry = varint_bytes(pend - last)
        if run > 1 then entry = entry .. char(0) .. varint_bytes(run - 1) end
        last_before, closed_before = last, closed
        closed, last = closed + run, pend
      end
      pend, run = at, blocks
    end
    local n = cost
    if block > 1 and open > 0 then
      local fill = min(n, block - open)
      open, open_at = open + fill, at
      n = n - fill
      if open == block then
        open, open_at = 0, 0
        close(1)
      end
    end
    local rest = n % block
    if n > rest then close((n - rest) / block) end
    if rest > 0 then open, open_at = rest, at end
    live = live + cost
  end
  if back > 0 then
    live = live - back
    -- The entries behind the newest mark, read once: where each starts, the tick before it, its own, its blocks.
    local entries, left = {}, 0
    local function read_last()
      local i, t = head, origin
      local m = mark_from(i)
      while m do
        t, i = (mark(m)), m + MARK
        m = mark_from(i)
      end
      while true do
        local next, by, blocks = read(i)
        if not next then return end
        left = left + 1
        entries[left] = {entry_from(i), t, t + by, blocks}
        i, t = next, t + by
      end
    end
    local function pop_last()
      if left == 0 then read_last() end
      local start, prior, t, blocks = nil, 0, 0, 0
      if left > 0 then
        start, prior, t, blocks = unpack(entries[left])
        left = left - 1
      end
      if start and (t ~= last or prior < origin) then return false end
      if not start or blocks >= closed then
        if blocks ~= closed then return false end
        run, pend = blocks, t
        clear()
        return true
      end
      if border(start - MARK) then start = start - MARK end
      run, pend = blocks, t
      closed, last, tail, cut = closed - blocks, prior, start, true
      return true
    end
    local n = back
    local taken = min(n, open)
    open, n = open - taken, n - taken
    if open == 0 then open_at = 0 end
    while n > 0 and run > 0 do
      local blocks = min((n - n % block) / block, run)
      run, n = run - blocks, n - blocks * block
      if run > 0 and n > 0 then
        run, open, open_at, n = run - 1, block - n, pend, 0
      end
      if run == 0 and not pop_last() then return nil end -- the stream is not what the header says
    end
  end
  newest = open > 0 and open_at or pend
  if live > 0 then reset = newest * tick + window - now end

  if cost > 0 and allowed or back > 0 or cost ~= 0 and set_back then
    local life = px(window + tick + min(window, 1000000))
    local function place()
      if #entry == 0 then return nil, tail end
      if border(tail) then return tail, tail + MARK end
      local stop = segment_end(tail)
      if wide and tail + #entry > stop then return stop, stop + MARK end
      return nil, tail
    end
    local function header()
      return char(2) .. put56(origin + 1) .. put56(before) .. put56(closed) .. put56(last) .. put56(pend) .. put32(run)
        .. put56(open_at) .. put32(open) .. char(lead % 256, (lead - lead % 256) / 256) .. put32(head) .. put32(tail) .. put32(block)
    end
    local function rewrite(body)
      lead, head, tail = segment_end(head) - head, 0, #body
      local m, i = place()
      local zeros = string.rep(char(0), (m or i) - tail)
      if m then zeros = zeros .. put56(last_before) .. put56(before + closed_before) end
      tail = i + #entry
      redis.call('SET', key, header() .. body .. zeros .. entry .. string.rep(char(0), room(tail) - tail), 'PX', life)
    end

    local small = not wide
    if wide and not mark_from(head) and tail - head < SMALL / 2 then small = true end
    if small then
      local h = char(1) .. put56(origin + 1) .. varint_bytes(block) .. varint_bytes(closed) .. varint_bytes(last - origin)
        .. varint_bytes(pend - last) .. varint_bytes(run) .. varint_bytes(open)
      if open > 0 then h = h .. varint_bytes(open_at - pend) end
      local body = tail > head and stream(head, tail) or ''
      if #h + #body + #entry <= SMALL then
        redis.call('SET', key, h .. body .. entry, 'PX', life)
      else
        wide, lead, before, head = true, SEGMENT, 0, 0
        rewrite(body)
      end
    else
      if moved ~= 0 then
        local m = mark_from(head)
        while m do
          redis.call('SETRANGE', key, HEADER + m, put56(max((mark(m)), 0)))
          m = mark_from(m + 1)
        end
        moved = 0
      end
      local m, i = place()
      if cut or HEADER + i + #entry > redis.call('STRLEN', key) then
        head = entry_from(head)
        local body = stream(head, tail)
        rewrite(body)
      else
        if m then
          redis.call('SETRANGE', key, HEADER + m, put56(last_before) .. put56(before + closed_before) .. entry)
        elseif #entry > 0 then
          redis.call('SETRANGE', key, HEADER + i, entry)
        end
        if #entry > 0 then tail = i + #entry end
        redis.call('SETRANGE', key, '0', header())
        redis.call('PEXPIRE', key, life)
      end
    end
  end
  return allowed and 1 or 0, max(limit - live, 0), retry, reset
end
