-- Quotient and remainder of (a * b + c) / d, exact for a < 2^53 and b, c, d <= 2^30
-- as long as the quotient is below 2^53: a long division in digits of 20 bits, so that
-- every intermediate value stays below 2^53.
local function mul_add_div(a, b, c, d)
  local a0 = a % 1048576
  a = (a - a0) / 1048576
  local a1 = a % 1048576
  local x = (a - a1) / 1048576 * b
  local r = x % d
  local q = (x - r) / d
  x = r * 1048576 + a1 * b
  r = x % d
  q = q * 1048576 + (x - r) / d
  x = r * 1048576 + a0 * b + c
  r = x % d
  return q * 1048576 + (x - r) / d, r
end

-- Quotient of a * b / d for a <= 2^30, b <= d < 2^49: the same in digits of 3 bits of a.
local function mul_div_wide(a, b, d)
  if a * b < 9007199254740992 then
    local x = a * b
    return (x - x % d) / d
  end
  local q, r, unit = 0, 0, 134217728
  for _ = 1, 10 do
    local digit = (a - a % unit) / unit
    a = a - digit * unit
    local x = r * 8 + digit * b
    r = x % d
    q = q * 8 + (x - r) / d
    unit = unit / 8
  end
  return q
end

