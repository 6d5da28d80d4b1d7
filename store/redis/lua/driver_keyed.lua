-- Steps that read and write their key themselves. A key of the wrong type is that
-- decision's failure alone; whatever else fails (READONLY, OOM) fails the call.
local key
each(function(i)
  key = KEYS[i]
end, function(cost, p)
  local ran, allowed, remaining, retry, reset = pcall(step, key, now, own, cost, p, px)
  if not ran then
    local text = type(allowed) == 'table' and allowed.err or allowed
    if not string.find(text, 'WRONGTYPE', 1, true) then error(allowed, 0) end
    mark(WRONG_TYPE)
  elseif allowed == nil then
    mark(CORRUPT)
  else
    answer(allowed, remaining, retry, reset)
  end
end)
return reply
