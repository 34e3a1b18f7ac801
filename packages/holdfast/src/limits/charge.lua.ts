// Generated from charge.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "limits/charge",
  sha1: "4555d3db600e36b5583fdc4b1d8b662c42e3ded7",
  source: `local how = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local format, floor, max_of, min_of = string.format, math.floor, math.max, math.min
local function ceil_div(a, b) return floor((a + b - 1) / b) end
local function alien(key)
  error({ err = 'WRONGTYPE the key of this limit holds something else: ' .. key })
end
local function bucket(key, cost, max, per, room, unit, at)
  local state = redis.call('GET', key)
  local periods = per / unit
  local event = at and at < now and at or now
  local level, since = 0, event
  if state then
    local was_level, was_since, was_per, was_unit = string.match(state, '^(%d+) (%d+) (%d+) (%d+)$')
    if not was_level then alien(key) end
    level, since = tonumber(was_level), tonumber(was_since)
    if tonumber(was_per) ~= per or tonumber(was_unit) ~= unit then
      level = math.ceil(level * was_unit / was_per * periods)
    end
  end
  local full = room * periods
  if level > full then level = full end
  if since > now + per then since = now end
  local amount = cost * periods
  if event < since then
    local gone = at and floor((since - event) / unit) * max or 0
    amount = amount > 0 and max_of(amount - gone, 0) or min_of(amount + gone, 0)
    event = since
  end
  local ticks = floor((event - since) / unit)
  if ticks * max >= level then level, since = 0, event
  else level, since = level - ticks * max, since + ticks * unit end
  if how == 'set' then level, since, amount = min_of(max_of(cost, 0), room) * periods, now, 0 end
  local charged = max_of(level + amount, 0)
  local ok, retry = level + amount <= full or amount <= 0, 0
  if not ok then
    retry = cost > room and -1 or max_of(ceil_div(level + amount - full, max) * unit + since - now, 1)
  end
  local function reset(left)
    return left == 0 and 0 or max_of(ceil_div(left, max) * unit + since - now, 1)
  end
  local function free(used)
    return floor((full - max_of(used - floor((now - since) / unit) * max, 0)) / periods)
  end
  local function write()
    if charged > 0 then
      local life = ceil_div(charged, max) * unit
      redis.call('SET', key, format('%.0f %.0f %.0f %.0f', charged, since, per, unit), 'PX', ceil_div(life, 1000) + 1)
    elseif state then
      redis.call('DEL', key)
    end
  end
  return ok, retry, free(charged), reset(charged), free(level), reset(level), write
end
local function window(key, cost, max, per, _, _, at)
  local state = redis.call('GET', key)
  local count, start = 0, now
  if state then
    local was_count, was_start = string.match(state, '^(%d+) (%d+)$')
    if not was_count then alien(key) end
    count, start = tonumber(was_count), tonumber(was_start)
    if start > now + per then start = now end
    if now >= start + per then count, start = 0, now end
  end
  if how == 'set' then count, cost = min_of(max_of(cost, 0), max), 0 end
  if cost < 0 and at and at < start then cost = 0 end
  local charged = max_of(count + cost, 0)
  local ok = cost <= 0 or charged <= max
  local left = max_of(start + per - now, 1)
  local function write()
    if charged > 0 then
      redis.call('SET', key, format('%.0f %.0f', charged, start), 'PX', ceil_div(left, 1000))
    elseif state then
      redis.call('DEL', key)
    end
  end
  local retry = ok and 0 or cost > max and -1 or left
  return ok, retry, max_of(max - charged, 0), charged > 0 and left or 0, max_of(max - count, 0), count > 0 and left or 0, write
end
local function lifetime(key, cost, max)
  local state = redis.call('GET', key)
  local count = 0
  if state then
    if not string.match(state, '^%d+$') then alien(key) end
    count = tonumber(state)
  end
  if how == 'set' then count, cost = max_of(cost, 0), 0 end
  local charged = max_of(count + cost, 0)
  local ok = cost < 0 or charged <= max
  local function write()
    if charged > 0 then
      redis.call('SET', key, format('%.0f', charged))
    elseif state then
      redis.call('DEL', key)
    end
  end
  return ok, ok and 0 or -1, max_of(max - charged, 0), charged > 0 and -1 or 0, max_of(max - count, 0), count > 0 and -1 or 0, write
end
local chunk = 100
local function charge_of(item)
  local at, n, sum = string.match(item, '^(%d+) (%d+) (%d+)$')
  return tonumber(at), tonumber(n), tonumber(sum)
end
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
      if at then redis.call('RPUSH', key, format('%.0f %.0f %.0f', item_at, n - left, sum - left))
      else redis.call('LPUSH', key, format('%.0f %.0f %.0f', item_at, n - left, sum)) end
    end
    left = left - n
  end
  for place = #later, 1, -1 do
    local item_at, n, sum = charge_of(later[place])
    redis.call('RPUSH', key, format('%.0f %.0f %.0f', item_at, n, sum - back))
  end
end
local function sliding(key, cost, max, per, _, _, taken_at)
  local last = redis.call('LINDEX', key, -1)
  local used, ended, last_at, last_sum = 0, 0, 0, 0
  if last then
    local _
    last_at, _, last_sum = charge_of(last)
    each_charge(key, 0, function(at, n, sum, place)
      if at > now - per then
        used, ended = last_sum - sum + n, place
        return true
      end
      ended = place + 1
    end)
  end
  local is_ahead = last_at > now + per
  if is_ahead then last_at, taken_at = now, nil end
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
  local charged = max_of(used + cost, 0)
  local ok, retry = cost <= 0 or charged <= max, 0
  if not ok then
    retry = cost > max and -1 or per
    if retry > 0 and not is_ahead then
      local free = 0
      each_charge(key, ended, function(at, n)
        free = free + n
        retry = max_of(at + per - now, 1)
        return used - free + cost <= max
      end)
    end
  end
  local at = max_of(last_at, now)
  local function reset(left, is_newest)
    return left == 0 and 0 or max_of((is_newest and at or last_at) + per - now, 1)
  end
  local function write()
    if charged == 0 then
      if last then redis.call('DEL', key) end
      return
    end
    if is_ahead then
      redis.call('DEL', key)
      redis.call('RPUSH', key, format('%.0f %.0f %.0f', now, used, last_sum))
    elseif ended > 0 then
      redis.call('LTRIM', key, ended, -1)
    end
    if cost > 0 then
      local n, sum = cost, last_sum + cost
      if used > 0 and last_at == at then n = n + select(2, charge_of(redis.call('RPOP', key))) end
      redis.call('RPUSH', key, format('%.0f %.0f %.0f', at, n, sum))
    end
    if cost < 0 then give_back(key, -cost, taken_at) end
    redis.call('PEXPIRE', key, ceil_div(reset(charged, cost > 0), 1000) + 1)
  end
  return ok, retry, max_of(max - charged, 0), reset(charged, cost > 0), max_of(max - used, 0), reset(used, false), write
end
local kinds = { rolling = bucket, gcra = bucket, window = window, sliding = sliding, lifetime = lifetime }
local function answer(place)
  local from = place * 7 - 5
  local at = ARGV[from + 6]
  return kinds[ARGV[from]](KEYS[place], tonumber(ARGV[from + 1]), tonumber(ARGV[from + 2]), tonumber(ARGV[from + 3]),
    tonumber(ARGV[from + 4]), tonumber(ARGV[from + 5]), at ~= '' and tonumber(at) or nil)
end
local reply = { now }
local function tell(place, ok, retry, remaining, reset)
  local to = place * 4 - 2
  reply[to], reply[to + 1], reply[to + 2], reply[to + 3] = ok and 1 or 0, remaining, retry, reset
  if not ok and reset > 0 and redis.call('PTTL', KEYS[place]) == -1 then
    redis.call('PEXPIRE', KEYS[place], ceil_div(reset, 1000) + 1)
  end
end
if how == 'all' then
  local answers, every = {}, true
  for place = 1, #KEYS do
    answers[place] = { answer(place) }
    every = every and answers[place][1]
  end
  for place = 1, #KEYS do
    local ok, retry, remaining, reset, remaining_now, reset_now, write = unpack(answers[place])
    if every then write() else remaining, reset = remaining_now, reset_now end
    tell(place, ok, retry, remaining, reset)
  end
else
  local function charge(place)
    local ok, retry, remaining, reset, remaining_now, reset_now, write = answer(place)
    if how ~= 'look' and ok then write() else remaining, reset = remaining_now, reset_now end
    tell(place, ok, retry, remaining, reset)
  end
  for place = 1, #KEYS do
    if how ~= 'each' then
      charge(place)
    else
      local is_done, problem = pcall(charge, place)
      if not is_done then
        local to = place * 4 - 2
        reply[to] = type(problem) == 'table' and problem.err or tostring(problem)
        reply[to + 1], reply[to + 2], reply[to + 3] = 0, 0, 0
      end
    end
  end
end
return reply
`,
};
