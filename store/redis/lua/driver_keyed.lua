-- Steps that read and write their key themselves. A key of the wrong type is that
-- decision's failure alone; whatever else fails (READONLY, OOM) fails the call.
local i = 0
local keys, often, cost, p = run()
while keys do
  local last = i + keys
  repeat
    if keys > 0 then i = i + 1 end
    for _ = 1, often do
      local ran, allowed, remaining, retry, reset = pcall(step, KEYS[i], now, own, cost, p, px)
      if not ran then
        local text = type(allowed) == 'table' and allowed.err or allowed
        -- As it is: error would put ERR before it.
        if not string.find(text, 'WRONGTYPE', 1, true) then return {err = text} end
        mark(WRONG_TYPE)
      else
        answer(allowed, remaining, retry, reset)
      end
    end
  until i == last
  keys, often, cost, p = run()
end
return reply
