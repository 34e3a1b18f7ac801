--[[
The plain way, which most calls of charge.lua take: costs that fit, now, into buckets whose `per` and `unit` have not
changed. It does what `bucket` does, before any function is made, which would cost half as much again. It stops at the
first key that is not so, and the rest of the script goes on from there: `plain` keys are done, in whole groups.
]]
if how == 'take' then
  local texts, lives
  if size > 1 then texts, lives = {}, {} end
  for place = 1, #KEYS do
    local kind, cost, max, per, burst, unit, at = unpack(args, place * 7 - 4, place * 7 + 2)
    local rate = ' ' .. per .. ' ' .. unit
    if kind ~= 'rolling' and kind ~= 'gcra' or at ~= '' then break end
    cost, max, burst, unit = cost + 0, max + 0, burst + 0, unit + 0
    local state = redis.pcall('GET', KEYS[place])
    local periods, level, since = per / unit, 0, now
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
    local life = floor((charged + max - 1) / max) * unit
    local text, life_ms = format('%.0f %.0f', charged, since) .. rate, floor((life + 999) / 1000) + 1
    local remaining, reset = floor((full - charged) / periods), max_of(life + since - now, 1)
    if place % size == 0 then
      -- The server refuses only the first write of a script. The rest of the script makes it again, and reports it.
      if redis.pcall('SET', KEYS[place], text, 'PX', life_ms).err then break end
      if is_lone then return format('%.0f %.0f %.0f', now, remaining, reset) end
      for other = plain + 1, place - 1 do redis.call('SET', KEYS[other], texts[other], 'PX', lives[other]) end
      plain = place
    else
      texts[place], lives[place] = text, life_ms
    end
    local to = place * 4 - 2
    reply[to], reply[to + 1], reply[to + 2], reply[to + 3] = 1, remaining, 0, reset
  end
  if plain == #KEYS then return reply end
end
