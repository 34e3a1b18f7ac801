// Generated from charge.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "limits/lua/charge",
  sha1: "0b3dce104e21307557c5c43a9ebfe87bf71680cc",
  source: `local how, size = ARGV[1], ARGV[2] + 0
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local format, floor, max_of, min_of = string.format, math.floor, math.max, math.min
local reply, plain = { now }, 0
if how == 'take' then
  local texts, lives = {}, {}
  for place = 1, #KEYS do
    local key, from = KEYS[place], place * 7 - 4
    if ARGV[from] ~= 'rolling' and ARGV[from] ~= 'gcra' or ARGV[from + 6] ~= '' then break end
    local state = redis.pcall('GET', key)
    local cost, max, burst, unit = ARGV[from + 1] + 0, ARGV[from + 2] + 0, ARGV[from + 4] + 0, ARGV[from + 5] + 0
    local rate = ' ' .. ARGV[from + 3] .. ' ' .. ARGV[from + 5]
    local periods, level, since = ARGV[from + 3] / unit, 0, now
    if state then
      if type(state) == 'table' then break end
      local was_level, was_since, was_rate = string.match(state, '^(%d+) (%d+)( %d+ %d+)$')
      if was_rate ~= rate then break end
      level, since = was_level + 0, was_since + 0
      if since > now then break end
      local ticks = floor((now - since) / unit)
      if ticks * max >= level then level, since = 0, now
      else level, since = level - ticks * max, since + ticks * unit end
    end
    local full, charged = burst * periods, level + cost * periods
    if cost <= 0 or cost > burst or charged > full then break end
    local life, to = floor((charged + max - 1) / max) * unit, place * 4 - 2
    texts[place], lives[place] = format('%.0f %.0f', charged, since) .. rate, floor((life + 999) / 1000) + 1
    reply[to], reply[to + 1], reply[to + 2] = 1, floor((full - charged) / periods), 0
    reply[to + 3] = max_of(life + since - now, 1)
    if place % size == 0 then
      if redis.pcall('SET', KEYS[plain + 1], texts[plain + 1], 'PX', lives[plain + 1]).err then break end
      for other = plain + 2, place do redis.call('SET', KEYS[other], texts[other], 'PX', lives[other]) end
      plain = place
    end
  end
  if plain == #KEYS then return reply end
end
local function ceil_div(a, b) return floor((a + b - 1) / b) end
local function mul_div(a, b, c)
  local quotient, rest, digit = 0, 0, 128 ^ 6
  repeat
    local part = rest * 128 + a * floor(b / digit)
    quotient, rest = quotient * 128 + floor(part / c), part % c
    b, digit = b % digit, digit / 128
  until digit < 1
  return rest > 0 and quotient + 1 or quotient
end
local function alien(key)
  error({ err = 'WRONGTYPE the key of this limit holds something else: ' .. key })
end
local function bucket(key, cost, max, per, burst, unit, at, extra, hold)
  local state = redis.call('GET', key)
  local periods = per / unit
  local full = burst * periods
  local event = at and at < now and at or now
  local level, since, is_moved = 0, event, false
  if state then
    local was_level, was_since, was_per, was_unit = string.match(state, '^(%d+) (%d+) (%d+) (%d+)$')
    if not was_level then alien(key) end
    level, since = tonumber(was_level), tonumber(was_since)
    local was_periods = was_per / was_unit
    if was_periods ~= periods then
      level = floor(level / was_periods) * periods + mul_div(level % was_periods, periods, was_periods)
    end
    if level > full then level = full end
    if since > now + per then since, is_moved = now, true end
  end
  local amount = max_of(cost, -burst) * periods
  if event < since then
    local gone = at and floor((since - event) / unit) * max or 0
    amount = amount > 0 and max_of(amount - gone, 0) or min_of(amount + gone, 0)
    event = since
  end
  local ticks = floor((event - since) / unit)
  if ticks * max >= level then level, since = 0, event
  else level, since = level - ticks * max, since + ticks * unit end
  if how == 'set' then level, since, amount, cost = min_of(max_of(cost, 0), burst) * periods, now, 0, 0 end
  local ok, retry = cost <= 0 or cost <= burst and level + amount <= full, 0
  if not ok then
    retry = cost > burst and -1 or max_of(ceil_div(level + amount - full, max) * unit + since - now, 1)
  end
  local taken, charged = ok and 1 or 0, max_of(level + amount, 0)
  if extra and ok then
    local held = max_of(level, ceil_div(hold, unit) * max)
    local more = min_of(extra, floor((full - held - amount) / periods))
    if more > 0 then taken, charged = 1 + more, held + amount + more * periods end
  end
  local function free(left)
    local gone = floor(max_of(now - since, 0) / unit) * max
    return floor((full - max_of(left - gone, 0)) / periods)
  end
  local function reset(left)
    return left == 0 and 0 or max_of(ceil_div(left, max) * unit + since - now, 1)
  end
  local function write(is_taken)
    local left = is_taken and charged or level
    if left > 0 then
      local life = ceil_div(left, max) * unit + max_of(since - now, 0)
      if cost == 0 and how ~= 'set' then life = max_of(life, per) end
      redis.call('SET', key, format('%.0f %.0f %.0f %.0f', left, since, per, unit), 'PX', ceil_div(life, 1000) + 1)
    elseif state then
      redis.call('DEL', key)
    end
  end
  return taken, retry, free(charged), reset(charged), free(level), reset(level), write, is_moved
end
local function window(key, cost, max, per, _, _, at, extra)
  local state = redis.call('GET', key)
  local count, start, is_moved = 0, now, false
  if state then
    local was_count, was_start = string.match(state, '^(%d+) (%d+)$')
    if not was_count then alien(key) end
    count, start = tonumber(was_count), tonumber(was_start)
    if start > now + per then start, is_moved = now, true end
    if now >= start + per then count, start = 0, now end
  end
  if how == 'set' then count, cost = min_of(max_of(cost, 0), max), 0 end
  if cost < 0 and at and at < start then cost = 0 end
  local charged = max_of(count + cost, 0)
  local ok = cost <= 0 or charged <= max
  local taken = ok and 1 or 0
  if extra and ok and charged < max then
    local more = min_of(extra, max - charged)
    taken, charged = 1 + more, charged + more
  end
  local left = max_of(start + per - now, 1)
  local function write(is_taken)
    local used = is_taken and charged or count
    if used > 0 then
      redis.call('SET', key, format('%.0f %.0f', used, start), 'PX', ceil_div(left, 1000) + 1)
    elseif state then
      redis.call('DEL', key)
    end
  end
  local retry = ok and 0 or cost > max and -1 or left
  return taken, retry, max_of(max - charged, 0), charged > 0 and left or 0, max_of(max - count, 0),
    count > 0 and left or 0, write, is_moved
end
local function lifetime(key, cost, max, _, _, _, _, extra)
  local state = redis.call('GET', key)
  local count = 0
  if state then
    if not string.match(state, '^%d+$') then alien(key) end
    count = tonumber(state)
  end
  if how == 'set' then count, cost = min_of(max_of(cost, 0), max), 0 end
  local charged = max_of(count + cost, 0)
  local ok = cost < 0 or charged <= max
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
local chunk = 100
local round = 2 ^ 48
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
local function push(key, at, n, sum, from)
  redis.call(from or 'RPUSH', key, format('%.0f %.0f %.0f', at, n, sum % round))
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
      if at then push(key, item_at, n - left, sum - left) else push(key, item_at, n - left, sum, 'LPUSH') end
    end
    left = left - n
  end
  for place = #later, 1, -1 do
    local item_at, n, sum = charge_of(later[place])
    push(key, item_at, n, sum - back)
  end
end
local function sliding(key, cost, max, per, _, _, taken_at, extra)
  local last = redis.call('LINDEX', key, -1)
  local used, ended, last_at, last_sum = 0, 0, 0, 0
  if last then
    local _
    last_at, _, last_sum = charge_of(last)
    if not last_sum then alien(key) end
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
local types = { rolling = bucket, gcra = bucket, window = window, sliding = sliding, lifetime = lifetime }
local words = how == 'ahead' and 9 or 7
local is_back = how == 'back'
local count = is_back and #KEYS / 2 or #KEYS
local mark_ms = 60000
local function key_of(place) return KEYS[is_back and place * 2 - 1 or place] end
local function answer(place)
  local from = (place - 1) * words + 3
  local cost, at, extra, hold = tonumber(ARGV[from + 1]), ARGV[from + 6], nil, nil
  if words == 9 then extra, hold = tonumber(ARGV[from + 7]), tonumber(ARGV[from + 8]) end
  if is_back and not redis.call('SET', KEYS[place * 2], '', 'NX', 'PX', mark_ms) then cost = 0 end
  return types[ARGV[from]](key_of(place), cost, tonumber(ARGV[from + 2]), tonumber(ARGV[from + 3]),
    tonumber(ARGV[from + 4]), tonumber(ARGV[from + 5]), at ~= '' and tonumber(at) or nil, extra, hold)
end
local function settle(place, is_charged, taken, retry, remaining, reset, remaining_now, reset_now, write, is_moved)
  if is_charged then
    write(true)
  else
    remaining, reset = remaining_now, reset_now
    if how ~= 'look' then
      if is_moved then write(false)
      elseif reset >= 0 then
        local life_ms = ceil_div(reset, 1000) + 1
        if redis.call('PTTL', key_of(place)) < life_ms - 1 then redis.call('PEXPIRE', key_of(place), life_ms) end
      end
    end
  end
  local to = place * 4 - 2
  reply[to], reply[to + 1], reply[to + 2], reply[to + 3] = taken, remaining, retry, reset
end
local function charge(first)
  local answers, is_charged = {}, how ~= 'look'
  for place = first, first + size - 1 do
    answers[place] = { answer(place) }
    is_charged = is_charged and answers[place][1] > 0
  end
  for place = first, first + size - 1 do settle(place, is_charged, unpack(answers[place])) end
end
for first = plain + 1, count, size do
  local is_done, problem = pcall(charge, first)
  if not is_done then
    for place = first, first + size - 1 do
      local to = place * 4 - 2
      reply[to], reply[to + 1] = -1, type(problem) == 'table' and problem.err or tostring(problem)
      reply[to + 2], reply[to + 3] = 0, 0
    end
  end
end
return reply
`,
};
