--[[
sliding: the type sliding, a sliding window log. The log has one entry for each moment at which something was charged, and
an entry expires `per` after its moment. Each entry carries the running total of all costs up to it, so the cost within the
window is the difference of two totals, and needs no walk over the log.
]]
local chunk = 100
-- Running totals wrap around at a number above any cost that can be used at a time.
local round = 2 ^ 48

local function charge_of(item)
  local at, n, sum = string.match(item, '^(%d+) (%d+) (%d+)$')
  return tonumber(at), tonumber(n), tonumber(sum)
end

-- Calls visit(at, n, sum, place) from the oldest on, until it returns true.
local function each_charge(key, place, visit)
  repeat
    local items = redis.call('LRANGE', key, place, place + chunk - 1)
    for _, item in ipairs(items) do
      local at, n, sum = charge_of(item)
      if visit(at, n, sum, place) then return end
      place = place + 1
    end
  until #items < chunk
end

local function push(key, at, n, sum, from)
  redis.call(from or 'RPUSH', key, format('%.0f %.0f %.0f', at, n, sum % round))
end

-- Refunds the newest of the charges up to `at`, or without it the oldest of all. So the charges that are left count for
-- as long as they may have to, whichever was refunded.
local function give_back(key, back, at)
  local later, left = {}, back
  if at then
    repeat
      local item = redis.call('RPOP', key)
      local is_later = charge_of(item) > at
      if is_later then later[#later + 1] = item else redis.call('RPUSH', key, item) end
    until not is_later
  end
  while left > 0 do
    local item_at, n, sum = charge_of(redis.call(at and 'RPOP' or 'LPOP', key))
    if n > left then
      if at then push(key, item_at, n - left, sum - left) else push(key, item_at, n - left, sum, 'LPUSH') end
    end
    left = left - n
  end
  for place = #later, 1, -1 do
    local item_at, n, sum = charge_of(later[place])
    push(key, item_at, n, sum - back)
  end
end

-- state: list of "<at> <n> <sum>", oldest first; sum is of all n up to this one
local function sliding(key, cost, max, per, _, _, taken_at, extra)
  local last = redis.call('LINDEX', key, -1)
  local used, ended, last_at, last_sum = 0, 0, 0, 0
  if last then
    local _
    last_at, _, last_sum = charge_of(last)
    if not last_sum then foreign(key, last) end
    each_charge(key, 0, function(at, n, sum, place)
      if at > now - per then
        used, ended = (last_sum - sum) % round + n, place
        return true
      end
      ended = place + 1
    end)
  end
  local is_moved = last_at > now + per
  if is_moved then last_at, taken_at = now, nil end
  if cost < 0 then
    local most = used
    if taken_at then
      most = 0
      each_charge(key, ended, function(at, n)
        if at > taken_at then return true end
        most = most + n
      end)
    end
    cost = max_of(cost, -most)
  end
  if how == 'set' then cost = min_of(max_of(cost, 0), max) - used end
  local charged = used + cost
  local ok, retry = cost <= 0 or charged <= max, 0
  if not ok then
    retry = cost > max and -1 or per
    if retry > 0 and not is_moved then
      local free = 0
      each_charge(key, ended, function(at, n)
        free = free + n
        retry = max_of(at + per - now, 1)
        return charged - free <= max
      end)
    end
  end
  local taken = ok and 1 or 0
  if extra and ok and charged < max then
    local more = min_of(extra, max - charged)
    taken, cost, charged = 1 + more, cost + more, charged + more
  end
  local at = max_of(last_at, now)
  local function reset(left, is_newest)
    return left == 0 and 0 or max_of((is_newest and at or last_at) + per - now, 1)
  end
  local function write(is_taken)
    local left = is_taken and charged or used
    if left == 0 then
      if last then redis.call('DEL', key) end
      return
    end
    if is_moved then
      redis.call('DEL', key)
      push(key, now, used, last_sum)
    elseif ended > 0 then
      redis.call('LTRIM', key, ended, -1)
    end
    if is_taken and cost > 0 then
      local n = cost
      if used > 0 and last_at == at then n = n + select(2, charge_of(redis.call('RPOP', key))) end
      push(key, at, n, last_sum + cost)
    end
    if is_taken and cost < 0 then give_back(key, -cost, taken_at) end
    redis.call('PEXPIRE', key, ceil_div(reset(left, is_taken and cost > 0), 1000) + 1)
  end
  return taken, retry, max_of(max - charged, 0), reset(charged, cost > 0), max_of(max - used, 0),
    reset(used, false), write, is_moved
end
