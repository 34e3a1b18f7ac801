--[[
The plain way, which most calls of charge.lua take: costs that fit, now, into buckets whose `per` and `unit` have not
changed. It does what `bucket` does, before any function is made, which would cost half as much again. It stops at the
first key that is not so, and the rest of the script goes on from there: `plain` keys are done, in whole groups.
]]
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
      -- The server refuses only the first write of a script. The rest of the script makes it again, and reports it.
      if redis.pcall('SET', KEYS[plain + 1], texts[plain + 1], 'PX', lives[plain + 1]).err then break end
      for other = plain + 2, place do redis.call('SET', KEYS[other], texts[other], 'PX', lives[other]) end
      plain = place
    end
  end
  if plain == #KEYS then return reply end
end
