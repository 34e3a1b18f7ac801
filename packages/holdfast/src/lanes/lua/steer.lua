--[[
steer: pauses or resumes a lane or all of them, or sets how many messages of a lane may be in flight.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua
ARGV[3]      reach     see deliveries/lua/_deliveries.lua
ARGV[4]      settings  see _lanes.lua
ARGV[5]      action    "pause", "resume" or "limit"
ARGV[6]      lane      '' for all, where it is no limit
ARGV[7]      limit     integer: messages in flight at most; 0: as the settings say

Returns  1
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe
Clock    the server's, read once
Cost     O(1), and what is dealt
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], held = KEYS[10], verb = 'lanes', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3],
}
local settings, action, name, limit = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
open_lanes(q, '', settings)
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local function steer_all()
  if action == 'pause' then
    redis.call('HSET', q.about, 'paused', '1')
    q.paused = '1'
  else
    redis.call('HDEL', q.about, 'paused')
    q.paused = nil
  end
end

local function steer_lane(rec)
  rec.is_long = true
  if action == 'limit' then
    rec.limit = limit
  elseif action == 'pause' then
    rec.paused = true
    redis.call('SADD', q.held, name)
  else
    rec.paused = false
    redis.call('SREM', q.held, name)
    -- The pause is no gap between two deliveries.
    rec.seen = '0'
  end
  arrange(q, rec)
end

if name == '' then steer_all() else steer_lane(change(q, name)) end
deal(q)
if q.is_sooner then tell_one(q) end
close_lanes(q)
return 1
