--[[
Lanes of which the server lost a part: somebody deleted a key, or the server evicted it. Each look takes a few lanes at random, so that all
of them go on after a while. Needs _lanes.lua.
]]
local MOST_MENDED = 5
-- Where `ready` is empty: all of it may be lost, and the next look follows at once.
local MOST_WITHOUT_TURNS = 100
-- Longer lists are not read for it.
local MOST_READ = 1000
-- What is due comes 16 at a time, so some of it may be late.
local LATE_MS = 5000

-- The lanes that are in `ready`; nil: too many.
local function in_ready(q)
  if redis.call('LLEN', q.ready) > MOST_READ then return nil end
  local found = {}
  for _, name in ipairs(redis.call('LRANGE', q.ready, 0, -1)) do found[name] = true end
  return found
end

-- "<number> <lane>" of each delivery; nil: too many.
local function in_flight(q)
  if redis.call('ZCARD', q.away) > MOST_READ then return nil end
  local found = {}
  for _, handle in ipairs(redis.call('ZRANGE', q.away, 0, -1)) do
    local _, number, _, _, lane = string.match(handle, HANDLE)
    if number then found[number .. ' ' .. lane] = true end
  end
  return found
end

local function drop_lost(rec, deliveries)
  for number in string.gmatch(rec.out, '%d+') do
    if not deliveries[number .. ' ' .. rec.name] then drop_out(rec, number) end
  end
end

-- Messages that wait for a time which nobody knows any more.
local function release_lost(q, rec)
  local members = redis.call('ZRANGEBYLEX', q.again, '[w ' .. rec.name .. ' ', '(w ' .. rec.name .. '!', 'LIMIT', 0, STEP)
  if #members == 0 then rec.later = 0 end
  for _, member in ipairs(members) do
    local number = string.match(member, ' (%d+) %d+!?$')
    if not redis.call('ZSCORE', q.later, 'back:' .. number .. ':' .. rec.name) then release(q, number, rec.name) end
  end
end

local function mend_some(q)
  local turns, deliveries
  local most = q.counts.ready == 0 and MOST_WITHOUT_TURNS or MOST_MENDED
  for _, name in ipairs(redis.call('HRANDFIELD', q.rec, most)) do
    if rec_of(q, name) then
      local rec = change(q, name)
      if rec.state == 'R' then
        turns = turns or in_ready(q)
        if turns and not turns[name] then
          rec.state = '-'
          if most > MOST_MENDED then q.recheck_ms = q.ms end
        end
      end
      if rec.out_count > 0 then
        deliveries = deliveries or in_flight(q)
        if deliveries then drop_lost(rec, deliveries) end
      end
      if rec.till > 0 and rec.till + LATE_MS < q.ms then rec.till = 0 end
      if rec.later > 0 then release_lost(q, rec) end
      arrange(q, rec)
    end
  end
end
