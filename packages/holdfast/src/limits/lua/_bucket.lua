--[[
bucket: the types rolling and gcra, which are the generic cell rate algorithm in the form of a leaky bucket.

The emission interval is per / max: a cost of 1 leaks out in that time. `burst` is how much the bucket holds, and
`used` how much is in it. The theoretical arrival time of the textbook is now + used * (per / max). A charge conforms if that
time, with its cost added to `used`, is at most burst * (per / max) ahead of now. The script keeps the level and not the
arrival time, because a level stays true when `max` or `per` change. The level is used * per / unit, a whole number even
where the emission interval is no whole number of microseconds.
]]
-- state: string "<level> <since> <per> <unit>", level = used * per / unit at the time `since`
local function bucket(key, cost, max, per, burst, unit, at, extra, hold)
  local state = redis.call('GET', key)
  local periods = per / unit
  local full = burst * periods
  local event = at and at < now and at or now
  local level, since, is_moved = 0, event, false
  if state then
    local was_level, was_since, was_per, was_unit = string.match(state, '^(%d+) (%d+) (%d+) (%d+)$')
    if not was_level then foreign(key, state) end
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
    -- A charge that happened before the last one has regenerated in part.
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
    -- Tokens that are used later than they are taken regenerate too early. So the bucket is raised to what leaks in `hold`.
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
      -- The key lives from now on, even if `since` is earlier, because the next late event may be as late. A charge of 0
      -- is how a caller lets the old `max` count up to now before it changes it: under a lower `max` the same level takes
      -- longer to regenerate.
      local life = ceil_div(left, max) * unit + max_of(since - now, 0)
      if cost == 0 and how ~= 'set' then life = max_of(life, per) end
      redis.call('SET', key, format('%.0f %.0f %.0f %.0f', left, since, per, unit), 'PX', ceil_div(life, 1000) + 1)
    elseif state then
      redis.call('DEL', key)
    end
  end
  return taken, retry, free(charged), reset(charged), free(level), reset(level), write, is_moved
end
