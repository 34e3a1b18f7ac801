--[[
What is due: deliveries whose deadline passed, and messages whose time has come. Needs _deal.lua.
]]
-- What a process had that ended. with: see charge_crash()
local function return_crashed(q, item, with)
  item.is_dead = charge_crash(q, item, with)
  give_back(q, item, 0, item.is_dead and 'its process ended, ' .. MOST_CRASHES .. ' times' or nil)
end

-- The processes of first leases that ran out: by process, whether it listens, and the suspect that it has.
local function silent_ones(q, rows)
  local found, names, channels = {}, {}, {}
  for place = 1, #rows, 2 do
    local _, _, _, process = string.match(rows[place], HANDLE)
    if process and tonumber(rows[place + 1]) % 1 > 0 and not found[process] then
      found[process] = { with = suspects_out(q)[process], listens = true }
      names[#names + 1], channels[#channels + 1] = process, q.inboxes .. process
    end
  end
  if #names > 0 and q.is_sure then
    local counts = redis.call('PUBSUB', 'NUMSUB', unpack(channels))
    for place, process in ipairs(names) do found[process].listens = counts[2 * place] > 0 end
  end
  return found
end

-- No handler may have seen it: where its process listens, this is neither an attempt nor the end of the process.
local function return_unanswered(q, item, silent)
  redis.call('ZREM', q.idle, item.process)
  if not silent.listens then
    return_crashed(q, item, silent.with)
    return
  end
  set_slow(q, item.process, true)
  item.is_unsure = true
  give_back(q, item, 0)
end

-- Deliveries whose deadline passed go back. Returns their number.
local function return_overdue(q)
  local rows = redis.call('ZRANGE', q.away, '-inf', string.format('%.1f', q.ms), 'BYSCORE', 'LIMIT', 0, STEP, 'WITHSCORES')
  local handles, count, silent = {}, 0, silent_ones(q, rows)
  for place = 1, #rows, 2 do handles[#handles + 1] = rows[place] end
  for place, item in ipairs(recall(q, first_light(q, handles))) do
    if item then
      if tonumber(rows[2 * place]) % 1 > 0 then return_unanswered(q, item, silent[item.process])
      else give_back(q, item, 0, 'its deadline passed') end
      count = count + 1
    end
  end
  return count
end

-- Puts back what is due: a bounded number, the rest follows at once because it is still due. Returns the number.
local function return_due(q)
  local count = 0
  if q.away_ms and q.away_ms <= q.ms then count = count + return_overdue(q) end
  if q.later_ms and q.later_ms <= q.ms then count = count + release_due(q) end
  if count > 0 then
    q.away_ms = tonumber(redis.call('ZRANGE', q.away, 0, 0, 'WITHSCORES')[2])
    q.later_ms = tonumber(redis.call('ZRANGE', q.later, 0, 0, 'WITHSCORES')[2])
  end
  return count
end

-- In ms from now; -1: nothing is delayed, and nobody has a delivery. q.recheck_ms: see _gone.lua.
local function due_in(q)
  local due_ms = math.min(q.away_ms or math.huge, q.later_ms or math.huge, q.recheck_ms or math.huge)
  return due_ms == math.huge and -1 or math.max(0, math.ceil(due_ms - q.ms))
end
