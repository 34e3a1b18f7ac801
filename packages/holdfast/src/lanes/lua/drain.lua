--[[
drain: deletes what waits in some lanes. Messages in flight stay.

KEYS[1..9]   about, rec, ready, off, away, idle, later, again, cancelled   see _lanes.lua
ARGV[1]      turns     integer: lanes whose turn it is next, at most 1,000; 0: those that are named
ARGV[2..n]   lanes     at most 1,000

Returns  {deleted, lanes}  deleted: messages that were not cancelled. lanes: how many were drained
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe: a second copy deletes what came meanwhile
Clock    the server's, read once
Cost     O(n), and the messages that came back or were cancelled
]]
--- @include "../../queues/lua/_about.lua"
--- @include "../../queues/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../queues/lua/_deal.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9],
}
open_lanes(q, '', '')
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local function drop_again(kind, name)
  local from = kind .. ' ' .. name
  local members = redis.call('ZRANGEBYLEX', q.again, '[' .. from .. ' ', '(' .. from .. '!')
  for _, member in ipairs(members) do
    local field = 'back:' .. string.match(member, ' (%d+) %d+$') .. ':' .. name
    redis.call('HDEL', q.off, field)
    redis.call('ZREM', q.later, field)
  end
  redis.call('ZREMRANGEBYLEX', q.again, '[' .. from .. ' ', '(' .. from .. '!')
  return #members
end

local function drain(rec)
  local length = length_of(q, rec)
  local count = length - rec.cancelled
  redis.call('UNLINK', list_key(q, rec.name))
  if rec.cancelled > 0 then redis.call('ZREMRANGEBYLEX', q.cancelled, '[' .. rec.name .. ' ', '(' .. rec.name .. '!') end
  if rec.returned > 0 then count = count + drop_again('r', rec.name) end
  if rec.later > 0 then count = count + drop_again('w', rec.name) end
  advance(q, rec, length)
  rec.cancelled, rec.returned, rec.later = 0, 0, 0
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
return { count, #names }
