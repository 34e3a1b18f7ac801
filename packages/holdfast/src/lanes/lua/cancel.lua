--[[
cancel: cancels a message that waits. In the list of its lane the body stays until its turn comes; a message that came back goes at once.

KEYS[1..9]   about, rec, ready, off, away, idle, later, again, cancelled   see _lanes.lua
KEYS[10]     outcome   of the message, see deliveries/lua/_deliveries.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua
ARGV[3]      reach     see deliveries/lua/_deliveries.lua
ARGV[4]      settings  see _lanes.lua
ARGV[5]      results   see deliveries/lua/_deliveries.lua
ARGV[6]      number    of the message, 16 digits
ARGV[7]      lane      of the message

Returns  1 it is cancelled, now or before; 0 it did not wait
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe: a message that is cancelled stays so
Clock    the server's, read once
Cost     O(log n)
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], verb = 'lanes', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3], results = ARGV[5],
}
local outcome, settings, number, name = KEYS[10], ARGV[4], ARGV[6], ARGV[7]
open_lanes(q, '', settings)
local before = checked(outcome, redis.pcall('GET', outcome))
if before then return before == 'cancelled' and 1 or 0 end
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local function cancel_in_list(rec)
  if tonumber(number) >= tonumber(rec.next) + length_of(q, rec) then return 0 end
  if redis.call('ZADD', q.cancelled, 0, name .. ' ' .. number) == 1 then
    rec.cancelled, rec.is_long = rec.cancelled + 1, true
  end
  return 1
end

-- The lane was parked for this message alone.
local function cancel_returned(rec)
  for _, kind in ipairs({ 'r', 'w' }) do
    local from = kind .. ' ' .. name .. ' ' .. number
    local found = redis.call('ZRANGEBYLEX', q.again, '[' .. from .. ' ', '(' .. from .. '!', 'LIMIT', 0, 1)[1]
    if found then
      local field = 'back:' .. number .. ':' .. name
      redis.call('ZREM', q.again, found)
      redis.call('HDEL', q.off, field)
      redis.call('ZREM', q.later, field)
      if kind == 'w' then rec.later = math.max(0, rec.later - 1) else rec.returned = math.max(0, rec.returned - 1) end
      if rec.returned == 0 then rec.till = 0 end
      arrange(q, rec)
      return 1
    end
  end
  return 0
end

if not rec_of(q, name) then return 0 end
local rec, is_cancelled = change(q, name), 0
if number >= rec.next then is_cancelled = cancel_in_list(rec) else is_cancelled = cancel_returned(rec) end
if is_cancelled == 1 then
  redis.call('SET', outcome, 'cancelled', 'PX', q.keep_results)
  send(q.results .. number .. '@' .. name, '', 'cancelled')
  deal(q)
  if q.is_sooner then tell_one(q) end
end
close_lanes(q)
return is_cancelled
