-- int prints a whole number in full: Lua's own conversion keeps 14 digits.
local function int(x)
  return string.format('%d', x)
end

-- foreign tells whether the newest time is none that a log of ours can hold. It may be
-- below zero: in what is left of a log that was moved to near 1970.
local function foreign(newest)
  return not (math.abs(newest) <= MAX_TIME and newest % 1 == 0)
end

-- placed decides where a request falls that comes at now: at what time it counts, and
-- by how much the log must move because the one clock was set back.
local function placed(newest, now, own)
  if not newest or newest <= now then return now, 0 end
  if own and newest > now + CLOCK_TOLERANCE then return now, newest - now end
  return newest, 0
end

local function life(window)
  return window + math.min(window, 1000000)
end

