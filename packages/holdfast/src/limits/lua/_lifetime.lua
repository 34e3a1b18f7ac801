--[[
lifetime: the type lifetime, a counter (a quota) that never expires. Refunds and `set` are the only ways back.
]]
-- state: string "<count>"
local function lifetime(key, cost, max, _, _, _, _, extra)
  local state = redis.call('GET', key)
  local count = 0
  if state then
    if not string.match(state, '^%d+$') then foreign(key, state) end
    count = tonumber(state)
  end
  if how == 'set' then count, cost = min_of(max_of(cost, 0), max), 0 end
  local charged = max_of(count + cost, 0)
  local ok = cost <= 0 or charged <= max
  local taken = ok and 1 or 0
  if extra and ok and charged < max then
    local more = min_of(extra, max - charged)
    taken, charged = 1 + more, charged + more
  end
  local function write(is_taken)
    if not is_taken then return end
    if charged > 0 then
      redis.call('SET', key, format('%.0f', charged))
    elseif state then
      redis.call('DEL', key)
    end
  end
  return taken, ok and 0 or -1, max_of(max - charged, 0), charged > 0 and -1 or 0, max_of(max - count, 0),
    count > 0 and -1 or 0, write, false
end
