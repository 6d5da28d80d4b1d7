-- The counts of many keys are alike, and so are the limits. The table holds small numbers
-- alone: the stand-in's tables are as long as their largest index.
local small, latest, latest_bytes = {}, nil, nil
local function put32(v)
  if v == latest then return latest_bytes end
  local bytes = small[v]
  if bytes then return bytes end
  local n = v
  local a = n % 256
  n = (n - a) / 256
  local b = n % 256
  n = (n - b) / 256
  local c = n % 256
  bytes = char(a, b, c, (n - c) / 256)
  if v <= 1024 then small[v] = bytes else latest, latest_bytes = v, bytes end
  return bytes
end

local function put48(v)
  local low = v % 16777216
  local high = (v - low) / 16777216
  local a, b, d, e = low % 256, low % 65536, high % 256, high % 65536
  return char(a, (b - a) / 256, (low - b) / 65536, d, (e - d) / 256, (high - e) / 65536)
end

local function put56(v)
  local low = v % 16777216
  local high = (v - low) / 16777216
  local a, b, d, e, f = low % 256, low % 65536, high % 256, high % 65536, high % 16777216
  return char(a, (b - a) / 256, (low - b) / 65536, d, (e - d) / 256, (f - e) / 65536, (high - f) / 16777216)
end
