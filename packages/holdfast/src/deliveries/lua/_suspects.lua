--[[
Suspects: messages whose process ended while it had them. A process has at most one of them at a time, beside other messages, and when it
ends, that one alone is charged; the others are suspects from then on. Where it had none, all that it had are charged. So one message that
ends its process takes no other with it: after MOST_CRASHES it is a dead letter. Needs _handle.lua.

q.suspected  the field `suspects` of _about.lua: "<id> <crashes> <where> …". where: the handle of its delivery, the member of `later` that
             holds it back, or '-'
]]
local MOST_CRASHES = 3
local MOST_SUSPECTS = 1000
-- For how long a suspect is held back whose turn it is where each process has one. Sooner when one of them is over.
local HELD_BACK_MS = 1000

-- By id; nil: there are none, as nearly always.
local function suspects_of(q)
  if q.suspected and not q.suspects then
    q.suspects = {}
    for id, crashes, where in string.gmatch(q.suspected, '(%S+) (%d) (%S+)') do
      q.suspects[id] = { crashes = tonumber(crashes), where = where }
    end
  end
  return q.suspects
end

local function suspect_of(q, id)
  local all = suspects_of(q)
  return all and all[id]
end

-- By process: the id of the suspect that it has.
local function suspects_out(q)
  if not q.suspects_out then
    q.suspects_out = {}
    for id, one in pairs(suspects_of(q) or {}) do
      local _, _, _, holder = string.match(one.where, HANDLE)
      if holder and redis.call('ZSCORE', q.away, one.where) then q.suspects_out[holder] = id end
    end
  end
  return q.suspects_out
end

local function may_have(q, id, process)
  return not (suspect_of(q, id) and suspects_out(q)[process])
end

-- where: what holds it back.
local function hold_suspect(q, id, where)
  local one = suspect_of(q, id)
  if one then one.where, q.is_suspected = where, true end
end

-- Its delivery is over.
local function return_suspect(q, id)
  hold_suspect(q, id, '-')
  q.suspects_out = nil
end

-- A delivery that is written soon.
local function give_suspect(q, id, handle, process)
  local one = suspect_of(q, id)
  if not one then return end
  suspects_out(q)[process] = id
  one.where, q.is_suspected = handle, true
end

-- The first one that is held back is due now, because a process may have it.
local function hurry_suspect(q)
  local ids = {}
  for id, one in pairs(q.suspects) do
    if string.find(one.where, '^%a') then ids[#ids + 1] = id end
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    local one = q.suspects[id]
    local member = one.where
    one.where, q.is_suspected = '-', true
    -- It may have been due already.
    if redis.call('ZSCORE', q.later, member) then
      redis.call('ZADD', q.later, string.format('%.0f', q.ms), member)
      q.later_ms, q.is_sooner = q.ms, true
      return
    end
  end
end

-- It is done, or dead.
local function clear_suspect(q, id)
  if not suspect_of(q, id) then return end
  q.suspects[id], q.is_suspected, q.suspects_out = nil, true, nil
  hurry_suspect(q)
end

-- Its process ended. with: the id of the suspect that it had, which alone is charged; another that ends processes may have been beside it, and the
-- two are never together again. Returns whether the message is to die.
local function charge_crash(q, item, with)
  local one = suspect_of(q, item.id)
  if not one then
    q.suspected = q.suspected or ''
    local all, count, first = suspects_of(q), 0, nil
    for id in pairs(all) do
      count = count + 1
      if not first or id < first then first = id end
    end
    -- One that was cancelled, or dropped from a full queue, is still among them.
    if count >= MOST_SUSPECTS then all[first] = nil end
    one = { crashes = 0, where = '-' }
    all[item.id], q.is_suspected = one, true
  end
  if with and item.id ~= with then return false end
  one.crashes, one.where, q.is_suspected = one.crashes + 1, '-', true
  if one.crashes < MOST_CRASHES then return false end
  item.attempts = item.attempts + one.crashes - 1
  return true
end
