--[[
Deliveries, of queues and of lanes alike. Needs _about.lua.

q.off   hash  handle -> body of each delivery, and what else is kept out of the line
q.away  zset  handle -> ms of its deadline. It ends in .5 while this is the first lease: _lease.lua
q.idle  zset  processId -> -(its free places). Not empty: nothing deliverable waits
q.dead  zset  number of a dead letter -> ms
q.letters  hash  number of a dead letter -> body, why:<number> -> "<attempts> <reason>"

A handle (_handle.lua) is in `off` and `away`, or in neither.
q.name, q.verb, q.inboxes, q.is_sure  what a message to a process is made of: "<verb> <name> <handle> <body>" is a gift, one without its body
        is to be fetched, see gift(), and "<verb> <name>" says: take now. It goes to the channel <inboxes><processId>. is_sure: nobody
        who listens here means that the process is gone
q.reach        "<is_sure, 0 or 1> <first_lease_ms, see _lease.lua>"
q.results      what the channel of an outcome begins with. Its key is <about>:result:<number>, in the slot of <about>:
               "done <token> <result>" or "dead <attempts> <reason>"; it is written once the handle was removed, and lives keep_results ms
q.max_attempts, q.keep_dead, q.keep_results   numbers; max_attempts 0: no bound
]]
--- @include "../../redis/lua/_message.lua"
--- @include "_handle.lua"
--- @include "_lease.lua"
--- @include "_suspects.lua"
--- @include "_heard.lua"
--- @include "_gift.lua"
--- @include "_bytes.lua"

local STEP = 16
-- The first of those in `off`, until they have MOST_BYTES together.
local function first_light(q, members)
  local some, bytes = {}, 0
  for place, member in ipairs(members) do
    some[place], bytes = member, bytes + redis.call('HSTRLEN', q.off, member)
    if bytes >= MOST_BYTES then break end
  end
  return some
end

-- How outcomes and dead letters name a message: by its number, in lanes with "@<lane>".
local function id_of(number, lane)
  return (lane or '') == '' and number or number .. '@' .. lane
end

local function set_outcome(q, number, kind, text)
  redis.call('SET', q.about .. ':result:' .. number, kind .. ' ' .. text, 'PX', q.keep_results)
  send(q.results .. number, '', kind)
end

-- words: handle and result of each, the result '' where none is stored. Returns the late ones: {[place from 0] = true}, or nil.
local function settle(q, words)
  local late
  for first = 1, #words, 2 * CHUNK do
    local handles = {}
    for place = first, math.min(first + 2 * CHUNK - 1, #words), 2 do handles[#handles + 1] = words[place] end
    if redis.call('HDEL', q.off, unpack(handles)) < #handles then
      for place, ms in ipairs(redis.call('ZMSCORE', q.away, unpack(handles))) do
        if not ms then
          late = late or {}
          late[(first - 1) / 2 + place - 1] = true
        end
      end
    end
    redis.call('ZREM', q.away, unpack(handles))
  end
  local has_suspects = suspects_of(q)
  for place = 2, #words, 2 do
    if (words[place] ~= '' or has_suspects) and not (late and late[place / 2 - 1]) then
      local token, number, _, _, lane = string.match(words[place - 1], HANDLE)
      if has_suspects and number then clear_suspect(q, id_of(number, lane)) end
      if words[place] ~= '' then set_outcome(q, id_of(number, lane), 'done', token .. ' ' .. words[place]) end
    end
  end
  return late
end

-- Places as an answer: '' or "0,3".
local function late_text(late)
  if not late then return '' end
  local places = {}
  for place in pairs(late) do places[#places + 1] = place end
  table.sort(places)
  return table.concat(places, ',')
end

-- A new delivery to a process: what park() writes later.
local function deliver(q, parked, item, process)
  local handle = write_handle(digits(next_number(q)), item, process)
  give_suspect(q, id_of(item.number, item.lane), handle, process)
  parked[#parked + 1] = handle
  parked[#parked + 1] = item.body
  return handle
end

-- The newest number that was given out: later tokens are larger. Where it was lost, the clock tells of it.
local function newest(q)
  return digits(math.max(q.last, q.us - 1))
end

-- parked: handle and body of each, all with their first lease.
local function park(q, parked)
  local deadline = first_deadline(q)
  for first = 1, #parked, 2 * CHUNK do
    local last, deadlines = math.min(first + 2 * CHUNK - 1, #parked), {}
    redis.call('HSET', q.off, unpack(parked, first, last))
    for place = first, last, 2 do
      deadlines[#deadlines + 1] = deadline
      deadlines[#deadlines + 1] = parked[place]
    end
    redis.call('ZADD', q.away, unpack(deadlines))
  end
end

-- Keeps the newest dead letters. A few old ones leave with each new one, should the bound have become lower.
local function trim_dead(q)
  local excess = redis.call('ZCARD', q.dead) - q.keep_dead
  if excess <= 0 then return end
  local gone = redis.call('ZRANGE', q.dead, 0, math.min(excess, 100) - 1)
  local fields = {}
  for _, number in ipairs(gone) do
    fields[#fields + 1] = number
    fields[#fields + 1] = 'why:' .. number
  end
  redis.call('ZREM', q.dead, unpack(gone))
  redis.call('HDEL', q.letters, unpack(fields))
end

local function check_dead(q)
  checked(q.dead, redis.pcall('ZCARD', q.dead))
  checked(q.letters, redis.pcall('HLEN', q.letters))
end

-- item: number, attempts, body
local function bury(q, item, reason)
  clear_suspect(q, item.id)
  local why = string.format('%.0f', item.attempts) .. ' ' .. reason
  redis.call('HSET', q.letters, item.id, item.body, 'why:' .. item.id, why)
  redis.call('ZADD', q.dead, string.format('%.0f', q.ms), item.id)
  trim_dead(q)
  set_outcome(q, item.id, 'dead', why)
end

-- Whether a failed attempt was the last one.
local function is_last(q, attempts)
  return q.max_attempts > 0 and attempts >= q.max_attempts
end

-- Ends deliveries. Returns {handle, number, attempts, is_unsure, process, body} of each; false: it was over before. attempts:
-- this one with them.
local function recall(q, handles)
  if #handles == 0 then return {} end
  local recalled, bodies = {}, redis.call('HMGET', q.off, unpack(handles))
  redis.call('HDEL', q.off, unpack(handles))
  redis.call('ZREM', q.away, unpack(handles))
  for place, handle in ipairs(handles) do
    local _, number, attempt, process, lane = string.match(handle, HANDLE)
    recalled[place] = false
    if bodies[place] and number then
      local attempts, is_unsure = read_attempts(attempt)
      recalled[place] = {
        handle = handle, id = id_of(number, lane), number = number, attempts = attempts, is_unsure = is_unsure, process = process, lane = lane,
        body = bodies[place],
      }
    end
    if bodies[place] and number and suspect_of(q, id_of(number, lane)) then
      return_suspect(q, id_of(number, lane))
      hurry_suspect(q)
    end
  end
  return recalled
end
