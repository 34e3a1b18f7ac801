--[[
drain: deletes what waits in some lanes. Messages in flight stay.

KEYS[1..9]   about, rec, ready, off, away, idle, later, again, cancelled   see _lanes.lua
ARGV[1]      turns     integer: lanes whose turn it is next, at most 1,000; 0: those that are named
ARGV[2..n]   lanes     at most 1,000

Returns  {deleted, lanes, left}  deleted: messages that were not cancelled. lanes: how many were drained. left: 1: some have more, which the
                         next call deletes
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    tells of its own run: a second copy deletes what came meanwhile
Clock    the server's, read once
Cost     O(n), and about 1,000 of the messages that came back or were cancelled
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9],
}
open_lanes(q, '', '')
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local MOST_DROPPED = 1000
local budget = MOST_DROPPED

-- Returns how many it has dropped of those that came back.
local function drop_again(kind, name)
  local from = kind .. ' ' .. name
  local members = budget > 0 and redis.call('ZRANGEBYLEX', q.again, '[' .. from .. ' ', '(' .. from .. '!', 'LIMIT', 0, budget) or {}
  for _, member in ipairs(members) do
    local field = 'back:' .. string.match(member, ' (%d+) %d+!?$') .. ':' .. name
    redis.call('HDEL', q.off, field)
    redis.call('ZREM', q.later, field)
    redis.call('ZREM', q.again, member)
  end
  budget = budget - #members
  return #members
end

-- Drops what is in the list, up to the last cancelled one of this call where there are more. Returns how many were not cancelled.
local function drop_list(rec)
  local length, members = length_of(q, rec), {}
  if rec.cancelled > 0 then
    members = redis.call('ZRANGEBYLEX', q.cancelled, '[' .. rec.name .. ' ', '(' .. rec.name .. '!', 'LIMIT', 0, budget)
    if #members > 0 then redis.call('ZREM', q.cancelled, unpack(members)) end
    budget = budget - #members
  end
  local is_whole = #members >= rec.cancelled or budget > 0
  if not is_whole then length = tonumber(string.match(members[#members], ' (%d+)$')) - tonumber(rec.next) + 1 end
  if is_whole then redis.call('UNLINK', list_key(q, rec.name)) else of_list(redis.pcall('LTRIM', list_key(q, rec.name), length, -1)) end
  advance(q, rec, length)
  rec.cancelled = is_whole and 0 or rec.cancelled - #members
  return length - #members
end

local is_left = false
local function drain(rec)
  local count = 0
  for _, kind in ipairs({ 'r', 'w' }) do
    local field = kind == 'r' and 'returned' or 'later'
    if rec[field] > 0 then
      local dropped = drop_again(kind, rec.name)
      count, rec[field] = count + dropped, budget > 0 and 0 or math.max(0, rec[field] - dropped)
    end
  end
  if budget > 0 then count = count + drop_list(rec) end
  if budget <= 0 and length_of(q, rec) + rec.returned + rec.later > 0 then
    is_left = true
    arrange(q, rec)
    return count
  end
  if rec.till > 0 then
    rec.till = 0
    redis.call('ZREM', q.later, 'park:' .. rec.name)
  end
  -- Its turn would find nothing: without it the record can go.
  if rec.state == 'R' and rec.out_count == 0 and redis.call('LREM', q.ready, 1, rec.name) == 1 then rec.state = '-' end
  return count
end

local turns, names, count = tonumber(ARGV[1]), { unpack(ARGV, 2) }, 0
if turns > 0 then names = redis.call('LPOP', q.ready, turns) or {} end
load_recs(q, names)
for _, name in ipairs(names) do
  if rec_of(q, name) then
    local rec = change(q, name)
    if turns > 0 then rec.state = '-' end
    count = count + drain(rec)
  end
end
close_lanes(q)
return { count, #names, is_left and 1 or 0 }
