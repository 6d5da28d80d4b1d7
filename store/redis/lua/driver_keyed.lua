-- Steps that read and write their key themselves. A key of the wrong type is that
-- decision's failure alone; whatever else fails (READONLY, OOM) fails the call.
for i = 1, #KEYS do
  local cost, p = arguments()
  local ran, allowed, remaining, retry, reset = pcall(step, KEYS[i], now, own, cost, p, px)
  if not ran then
    local text = type(allowed) == 'table' and allowed.err or allowed
    if not string.find(text, 'WRONGTYPE', 1, true) then error(allowed, 0) end
    answer(WRONG_TYPE, 0, 0, 0)
  elseif allowed == nil then
    answer(CORRUPT, 0, 0, 0)
  else
    answer(allowed, remaining, retry, reset)
  end
end
return reply
