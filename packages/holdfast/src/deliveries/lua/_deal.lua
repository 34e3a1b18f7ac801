--[[
Dealing: whatever makes something deliverable ends with deal(q), so that nobody stands idle beside it. Needs _deliveries.lua, and of
the queue or the lanes:
  take_next(q, count)   takes out of the line, in order: a list of {number, attempts, body, lane}; may stop before count
  has_more(q)           whether anything deliverable waits
  give_back(q, item, delay_ms, reason)   what recall() returned goes back, or becomes a dead letter. No reason: that was no attempt
  hold_back(q, item)    what take_next() returned waits, because each process has a suspect
  release_due(q)        moves what `later` has due, a bounded number: returns the number
  q.away_ms, q.later_ms   the first scores of `away` and `later`, or nil
]]
local GIFTS = 64

local function publish(q, process, words)
  return send(q.inboxes .. process, '', q.verb .. ' ' .. q.name .. words)
end

-- Processes with free places that listen, as far as this server knows; the others leave. The one with most room is first.
local function listening(q)
  while true do
    local rows, idle, names = redis.call('ZRANGE', q.idle, 0, GIFTS - 1, 'WITHSCORES'), {}, {}
    for place = 1, #rows, 2 do
      idle[#idle + 1] = { process = rows[place], room = -tonumber(rows[place + 1]) }
      names[#names + 1] = q.inboxes .. rows[place]
    end
    if #idle == 0 or not q.is_sure then return idle end
    local counts, live = redis.call('PUBSUB', 'NUMSUB', unpack(names)), {}
    for place, one in ipairs(idle) do
      if counts[2 * place] > 0 then live[#live + 1] = one else redis.call('ZREM', q.idle, one.process) end
    end
    if #live > 0 then return live end
  end
end

-- Everybody idle takes for himself.
local function tell_all(q)
  for _, process in ipairs(redis.call('ZRANGE', q.idle, 0, -1)) do publish(q, process, '') end
  redis.call('DEL', q.idle)
end

-- Somebody idle takes, and learns what is due.
local function tell_one(q)
  local idle = listening(q)
  if idle[1] then publish(q, idle[1].process, '') end
end

-- A process answers that was heard of lately, and that has let no first lease run out.
local function note_answering(q, idle)
  local names = {}
  for place, one in ipairs(idle) do names[place] = one.process end
  local heard_us = heard_of(q, names)
  for place, one in ipairs(idle) do
    one.answers = heard_us[place] + LATELY_US >= q.us and not is_slow(q, one.process)
  end
end

-- Of those that may have it: one that answers, if there is any.
local function roomiest(q, idle, item)
  local most
  for _, one in ipairs(idle) do
    local is_better = not most or one.answers and not most.answers or one.answers == most.answers and one.room > most.room
    if one.room > 0 and is_better and may_have(q, id_of(item.number, item.lane), one.process) then most = one end
  end
  return most
end

-- What a process takes for itself.
local function take_for(q, process, count)
  local parked = {}
  for _, item in ipairs(take_next(q, count)) do
    if may_have(q, id_of(item.number, item.lane), process) then deliver(q, parked, item, process)
    else hold_back(q, item) end
  end
  park(q, parked)
  return parked
end

-- Tells the process of its delivery. False: this user may not, and so the process does not have it.
local function hand_to(q, parked, item, process)
  local handle = deliver(q, parked, item, process)
  local _, is_refused = publish(q, process, gift(handle, item.body))
  if is_refused then parked[#parked], parked[#parked - 1] = nil, nil end
  return not is_refused
end

-- What take_next() returned, and nobody can be told of.
local function take_back(q, item)
  item.id, item.attempts = id_of(item.number, item.lane), item.attempts + 1
  if suspect_of(q, item.id) then return_suspect(q, item.id) end
  give_back(q, item, 0)
end

local function deal(q)
  if q.paused or not has_more(q) then return end
  local idle, room = listening(q), 0
  if #idle == 0 then return end
  for _, one in ipairs(idle) do room = room + one.room end
  note_answering(q, idle)
  local parked, items, is_mute = {}, take_next(q, math.min(room, GIFTS)), false
  for _, item in ipairs(items) do
    local one = not is_mute and roomiest(q, idle, item)
    if one then
      one.room, one.is_changed = one.room - 1, true
      is_mute = not hand_to(q, parked, item, one.process)
    end
    if is_mute then take_back(q, item)
    elseif not one then hold_back(q, item) end
  end
  park(q, parked)
  for _, one in ipairs(idle) do
    if one.room == 0 then
      redis.call('ZREM', q.idle, one.process)
    elseif one.is_changed then
      redis.call('ZADD', q.idle, -one.room, one.process)
    end
  end
  if has_more(q) and redis.call('ZCARD', q.idle) > 0 then tell_all(q) end
end
