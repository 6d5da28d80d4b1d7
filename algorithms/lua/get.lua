-- States are little-endian integers of fixed width, the same bytes as the Go twins'. Every function here is made anew for
-- each script that runs, so a step takes those files alone that it needs.
local function get32(s, i)
  local a, b, c, d = byte(s, i, i + 3)
  return a + b * 256 + c * 65536 + d * 16777216
end

local function get48(s, i)
  local a, b, c, d, e, f = byte(s, i, i + 5)
  return a + b * 256 + c * 65536 + d * 16777216 + (e + f * 256) * 4294967296
end

local function get56(s, i)
  local a, b, c, d, e, f, g = byte(s, i, i + 6)
  return a + b * 256 + c * 65536 + d * 16777216 + (e + f * 256 + g * 65536) * 4294967296
end
